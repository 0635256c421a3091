"""The schema, ours and LangGraph's, brought up to date under one advisory lock.

Any number of processes may start on an empty database at once. LangGraph builds indexes
CONCURRENTLY, which waits for every open transaction: it runs outside any transaction.
"""

from __future__ import annotations

import time

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.base import PostgresIndexConfig
from psycopg import Connection

from langgraph_durable.errors import ProjectError, StoreUnavailable
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
    held = {r["version"] for r in conn.execute("SELECT version FROM schema_migrations")}
    missing = [(version, script) for version, script in migrations() if version not in held]
    for version, script in missing:
        with conn.transaction():
            conn.execute(script, prepare=False)
            conn.execute("INSERT INTO schema_migrations (version) VALUES (%s)", (version,))
    PostgresSaver(conn).setup()
    PostgresStore(conn).setup()
    if store.index is not None:
        _index_items(conn, store.index)
    return [version for version, _ in missing]


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
