"""The schema, ours and LangGraph's, brought up to date under one advisory lock.

Any number of processes may start on an empty database at once. LangGraph builds indexes
CONCURRENTLY, which waits for every open transaction: it runs outside any transaction.

A deploy has servers of two releases beside each other on one schema, the newer one. So a release
only adds, and what it replaces goes one release later, in a migration that says so in its first
line: ``-- needs: 7`` turns away servers that know no version 7, and names the reason.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.base import PostgresIndexConfig
from psycopg import Connection, sql

from langgraph_durable.errors import ProjectError, SettingsError, StoreUnavailable
from langgraph_durable.postgres import UNAVAILABLE, Database, Row
from langgraph_durable.sql import migrations, statements
from langgraph_durable.store_config import StoreConfig

LOCK_KEY = 0x4C474D49
LOCK_SECONDS = 60.0

_ITEMS = statements("items")


def migrate(database: Database, store: StoreConfig | None = None) -> list[int]:
    """Apply what is missing; answers the versions applied. Blocking: call it in a thread.

    Where nothing is missing it only reads: a role that owns nothing may serve.

    Raises:
        ProjectError: the database cannot keep the index that the store is to have.
        SettingsError: a newer release has migrated the database out of this one's reach, or the
            role lacks a right.
        StoreUnavailable: the database cannot be reached, or another process migrates too long.
    """
    index = (store or StoreConfig()).index
    try:
        with database.connect() as conn:
            return [] if _is_current(conn, index) else _locked_apply(conn, index)
    except psycopg.errors.InsufficientPrivilege as error:
        raise SettingsError(
            f"{_reason(error)}. The role that owns the schema has to run `langgraph-durable"
            " migrate` and to grant this one its rights."
        ) from error
    except UNAVAILABLE as error:
        raise StoreUnavailable(_reason(error)) from error


def _reason(error: Exception) -> str:
    first = str(error).strip().splitlines()
    return f"cannot use the database: {first[0] if first else type(error).__name__}"


def _is_current(conn: Connection[Row], index: PostgresIndexConfig | None) -> bool:
    """Is nothing missing?"""
    wanted = {
        "checkpoint_migrations": len(PostgresSaver.MIGRATIONS) - 1,
        "store_migrations": len(PostgresStore.MIGRATIONS) - 1,
    }
    if index is not None:
        wanted["vector_migrations"] = _last_of(_indexed(conn, index))
    try:
        held = list(conn.execute("SELECT version, needs FROM langgraph_durable.schema_migrations"))
        if _missing(held) or any(_newest(conn, table) < last for table, last in wanted.items()):
            return False
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        return False
    _check(held)
    if index is not None:
        _check_dimensions(conn, index)
    return True


def _missing(held: Sequence[Row]) -> list[tuple[int, str]]:
    versions = {row["version"] for row in held}
    return [(version, script) for version, script in migrations() if version not in versions]


def _newest(conn: Connection[Row], table: str) -> int:
    """The newest version in one of LangGraph's tables; -1 for none."""
    named = sql.Identifier("langgraph_durable", table)  # a table of others may be in ``public``
    newest = sql.SQL("SELECT coalesce(max(v), -1) AS v FROM {}").format(named)
    row = conn.execute(newest).fetchone()
    return int(row["v"]) if row else -1


def _indexed(conn: Connection[Row], index: PostgresIndexConfig) -> PostgresStore:
    """What embeds is not asked here: only the number of dimensions counts."""
    return PostgresStore(conn, index={**index, "embed": lambda texts: []})


def _last_of(store: PostgresStore) -> int:
    """The last of the steps towards the table of vectors that this index takes."""
    steps = enumerate(store.VECTOR_MIGRATIONS)
    return max(v for v, step in steps if step.condition is None or step.condition(store))


def _locked_apply(conn: Connection[Row], index: PostgresIndexConfig | None) -> list[int]:
    conn.execute("SET lock_timeout = 0")
    _take_lock(conn)
    try:
        return _apply(conn, index)
    finally:
        conn.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))


def _take_lock(conn: Connection[Row]) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        row = conn.execute("SELECT pg_try_advisory_lock(%s) AS held", (LOCK_KEY,)).fetchone()
        if row and row["held"]:
            return
        if time.monotonic() > deadline:
            raise psycopg.OperationalError("another process has been migrating for a minute")
        time.sleep(0.05)


def _apply(conn: Connection[Row], index: PostgresIndexConfig | None) -> list[int]:
    conn.execute("CREATE SCHEMA IF NOT EXISTS langgraph_durable")
    conn.execute(
        "CREATE TABLE IF NOT EXISTS langgraph_durable.schema_migrations"
        " (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    conn.execute(
        "ALTER TABLE langgraph_durable.schema_migrations"
        " ADD COLUMN IF NOT EXISTS needs integer NOT NULL DEFAULT 0"
    )
    held = list(conn.execute("SELECT version, needs FROM schema_migrations"))
    _check(held)
    missing = _missing(held)
    for version, script in missing:
        with conn.transaction():
            conn.execute(script, prepare=False)
            conn.execute(
                "INSERT INTO schema_migrations (version, needs) VALUES (%s, %s)",
                (version, _needs(script)),
            )
    PostgresSaver(conn).setup()
    PostgresStore(conn).setup()
    if index is not None:
        _index_items(conn, index)
    return [version for version, _ in missing]


def _needs(script: str) -> int:
    """The version that a server must know to work behind this migration; 0: any."""
    first = re.match(r"-- needs: (\d+)\n", script)
    return int(first[1]) if first else 0


def _check(held: Sequence[Row]) -> None:
    """Raise SettingsError when a newer release has left something behind that this one needs."""
    known = max(version for version, _ in migrations())
    needs = max((row["needs"] for row in held), default=0)
    if needs > known:
        newest = max(row["version"] for row in held)
        raise SettingsError(
            f"The database was migrated to version {newest} by a newer release, for servers that"
            f" know version {needs}; this one knows {known}. Update it."
        )


def _index_items(conn: Connection[Row], index: PostgresIndexConfig) -> None:
    if conn.execute(_ITEMS["vector_available"]).fetchone() is None:
        raise ProjectError("store.index: this PostgreSQL has no extension pgvector; install it")
    try:
        _indexed(conn, index).setup()
    except (psycopg.ProgrammingError, psycopg.NotSupportedError) as error:
        raise ProjectError(f"store.index: {error.diag.message_primary or error}") from error
    _check_dimensions(conn, index)


def _check_dimensions(conn: Connection[Row], index: PostgresIndexConfig) -> None:
    kept = conn.execute(_ITEMS["vector_dimensions"]).fetchone()
    if kept and kept["dims"] != index["dims"]:
        raise ProjectError(
            f"store.index.dims: the items of this database have {kept['dims']} dimensions,"
            f" not {index['dims']}; other embeddings need another database"
        )
