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
from psycopg import Connection

from langgraph_durable.errors import ProjectError, SettingsError, StoreUnavailable
from langgraph_durable.postgres import UNAVAILABLE, Database, Row
from langgraph_durable.sql import migrations, statements
from langgraph_durable.store_config import StoreConfig

LOCK_KEY = 0x4C474D49
LOCK_SECONDS = 60.0

_ITEMS = statements("items")


def migrate(database: Database, store: StoreConfig | None = None) -> list[int]:
    """Apply what is missing; answers the versions applied. Blocking: call it in a thread.

    Raises:
        ProjectError: the database cannot keep the index that the store is to have.
        SettingsError: a newer release has migrated the database out of this one's reach.
        StoreUnavailable: the database cannot be reached, or another process migrates too long.
    """
    try:
        with database.connect() as conn:
            conn.execute("SET lock_timeout = 0")
            _take_lock(conn)
            try:
                return _apply(conn, store or StoreConfig())
            finally:
                conn.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))
    except UNAVAILABLE as error:
        raise StoreUnavailable(_reason(error)) from error


def _reason(error: Exception) -> str:
    first = str(error).strip().splitlines()
    return f"cannot use the database: {first[0] if first else type(error).__name__}"


def _take_lock(conn: Connection[Row]) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        row = conn.execute("SELECT pg_try_advisory_lock(%s) AS held", (LOCK_KEY,)).fetchone()
        if row and row["held"]:
            return
        if time.monotonic() > deadline:
            raise psycopg.OperationalError("another process has been migrating for a minute")
        time.sleep(0.05)


def _apply(conn: Connection[Row], store: StoreConfig) -> list[int]:
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
    versions = {row["version"] for row in held}
    missing = [(version, script) for version, script in migrations() if version not in versions]
    for version, script in missing:
        with conn.transaction():
            conn.execute(script, prepare=False)
            conn.execute(
                "INSERT INTO schema_migrations (version, needs) VALUES (%s, %s)",
                (version, _needs(script)),
            )
    PostgresSaver(conn).setup()
    PostgresStore(conn).setup()
    if store.index is not None:
        _index_items(conn, store.index)
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
    """The table of vectors. What embeds is not asked: only the number of dimensions counts."""
    if conn.execute(_ITEMS["vector_available"]).fetchone() is None:
        raise ProjectError("store.index: this PostgreSQL has no extension pgvector; install it")
    try:
        PostgresStore(conn, index={**index, "embed": lambda texts: []}).setup()
        kept = conn.execute(_ITEMS["vector_dimensions"]).fetchone()
    except (psycopg.ProgrammingError, psycopg.NotSupportedError) as error:
        raise ProjectError(f"store.index: {error.diag.message_primary or error}") from error
    if kept and kept["dims"] != index["dims"]:
        raise ProjectError(
            f"store.index.dims: the items of this database have {kept['dims']} dimensions,"
            f" not {index['dims']}; other embeddings need another database"
        )
