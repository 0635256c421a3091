"""A server whose database role owns nothing: another role has migrated, and granted the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from langgraph_durable.errors import SettingsError
from langgraph_durable.postgres import Database
from langgraph_durable.settings import Settings
from langgraph_durable.store.migrations import migrate
from langgraph_durable.store_config import StoreConfig
from tests.conftest import MakeServer
from tests.contract.test_newer_schema import everything
from tests.logs import query
from tests.servers import ROOT, Databases, Server

INDEX = StoreConfig(index={"dims": 3, "embed": "graphs:embed"})


def grants(role: str) -> str:
    """What the documentation tells the owner to do."""
    text = Path(ROOT / "docs" / "scaling.md").read_text()
    (block,) = re.findall(r"```sql\n(GRANT .*?)```", text, re.DOTALL)
    return re.sub(r"\bapp\b", role, block)


@pytest.fixture
def role(database_url: str) -> Iterator[str]:
    """A role without any right of its own."""
    name = f"plain_{conninfo_to_dict(database_url)['dbname']}"
    query(database_url, f"CREATE ROLE {name} LOGIN")
    yield name
    query(database_url, f"DROP OWNED BY {name}")
    query(database_url, f"DROP ROLE {name}")


@pytest.fixture
def plain_url(database_url: str, role: str) -> str:
    return make_conninfo(database_url, user=role)


@pytest.fixture
def granted_url(database_url: str, role: str, plain_url: str) -> str:
    with psycopg.connect(database_url) as conn:
        conn.execute(grants(role).encode())
    return plain_url


def database(url: str) -> Database:
    return Database(Settings(database_url=url), "w")


async def statuses(server: Server) -> list[int]:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
        return [answer.status_code for answer in await everything(client)]


async def test_a_role_that_owns_nothing_serves_all_that_the_owner_does(
    database_url: str, granted_url: str, role: str, make_server: MakeServer
) -> None:
    owner = make_server("basic", database_url=database_url).start()
    expected = await statuses(owner)
    owner.terminate()
    plain = make_server("basic", database_url=granted_url).start()

    assert await statuses(plain) == expected
    plain.kill()
    plain.start()
    assert await statuses(plain) == expected
    assert "permission denied" not in plain.log.read_text()
    (rights,) = query(
        database_url,
        "SELECT has_database_privilege(%(role)s, current_database(), 'CREATE') AS schemas,"
        " has_schema_privilege(%(role)s, 'langgraph_durable', 'CREATE') AS tables,"
        " (SELECT count(*) FROM pg_shdepend d JOIN pg_roles r ON d.refobjid = r.oid"
        "  WHERE r.rolname = %(role)s AND d.deptype = 'o') AS owned",
        {"role": role},
    )
    assert rights == {"schemas": False, "tables": False, "owned": 0}


def test_a_table_of_a_later_release_is_granted_as_well(database_url: str, granted_url: str) -> None:
    query(database_url, "CREATE TABLE of_the_next_release (id integer)")
    query(granted_url, "INSERT INTO of_the_next_release VALUES (1)")
    assert query(granted_url, "SELECT id FROM of_the_next_release") == [{"id": 1}]


def test_an_index_of_the_store_is_found_by_a_role_that_could_not_make_it(
    database_url: str, granted_url: str
) -> None:
    with pytest.raises(SettingsError, match="permission denied"):
        migrate(database(granted_url), INDEX)
    migrate(database(database_url), INDEX)
    assert migrate(database(granted_url), INDEX) == []


def test_a_role_without_rights_is_told_who_has_to_do_what(plain_url: str) -> None:
    with pytest.raises(SettingsError, match=r"permission denied .* `langgraph-durable migrate`"):
        migrate(database(plain_url))


@pytest.mark.parametrize(
    "missing",
    [
        "DELETE FROM schema_migrations WHERE version = 1",
        "DELETE FROM checkpoint_migrations WHERE v = (SELECT max(v) FROM checkpoint_migrations)",
        "DELETE FROM store_migrations WHERE v = (SELECT max(v) FROM store_migrations)",
        "ALTER TABLE schema_migrations DROP COLUMN needs",
    ],
)
def test_whatever_is_missing_is_left_to_the_owner(
    database_url: str, granted_url: str, missing: str
) -> None:
    query(database_url, missing)
    with pytest.raises(SettingsError, match="permission denied"):
        migrate(database(granted_url))


def test_an_empty_database_is_left_to_the_owner(databases: Databases, role: str) -> None:
    url = databases.create()
    try:
        with pytest.raises(SettingsError, match="permission denied for database"):
            migrate(database(make_conninfo(url, user=role)))
    finally:
        databases.drop(url)
