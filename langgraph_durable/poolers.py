"""Poolers such as PgBouncer: can what an address names be worked with? Asked before anything else.

A worker shows that it lives by a lock of its session, and hints come to whoever listens: for those
a session has to stay with its connection. Everything else is one transaction at a time.
"""

from __future__ import annotations

import psycopg
from psycopg import Connection

from langgraph_durable.errors import SettingsError
from langgraph_durable.postgres import Database, Row

POOLED = (
    "database_url: this is a pooler that keeps no session for a connection (its settings, locks and"
    " LISTEN); name PostgreSQL itself in DATABASE_DIRECT_URL as well."
)

POOLED_DIRECT = (
    "direct_database_url: has to name PostgreSQL itself; this is a pooler that keeps no session for"
    " a connection."
)

NOT_SET_UP = (
    "database_url: the pooler must be set up with pool_mode = transaction,"
    " ignore_startup_parameters = options and, for the database, connect_query ="
    " 'SET search_path TO langgraph_durable,public; SET lock_timeout TO 5000;"
    " SET idle_in_transaction_session_timeout TO 10000'."
)

ASKED = {"langgraph_durable.asked": "yes"}
"""What only a session of our own has."""

LOOKS = 3
"""How often connections are asked for their sessions, to see whether these are their own."""


def check_direct(database: Database) -> None:
    """Blocking. Raises SettingsError when sessions do not stay with direct connections.

    A database that cannot be reached is left to whoever needs it next.
    """
    try:
        kept = _keeps_sessions(database.tuned(ASKED))
    except psycopg.OperationalError as error:
        kept = "unsupported startup parameter" not in str(error)
    if not kept:
        raise SettingsError(POOLED_DIRECT if database.pooled else POOLED)


def check_pooler(database: Database) -> None:
    """Blocking. Raises SettingsError unless the pooler, if there is one, can be worked with."""
    if not database.pooled:
        return
    try:
        found = [_finds_schema(database) for _ in range(LOOKS)]
    except psycopg.OperationalError as error:
        said = str(error).strip().splitlines()[-1]
        raise SettingsError(f"{NOT_SET_UP} It says: {said}") from error
    if not all(found):
        raise SettingsError(NOT_SET_UP)


def _keeps_sessions(database: Database) -> bool:
    """Has each of two connections one session, its own, set as was asked?"""
    with database.connect() as one, database.connect() as other:
        met = [(_session(one), _session(other)) for _ in range(LOOKS)]
    (mine, asked), (theirs, _) = met[0]
    return len(set(met)) == 1 and mine != theirs and asked == "yes"


def _session(conn: Connection[Row]) -> tuple[int, str | None]:
    """Which session a connection has at the moment, and whether it was asked for."""
    asked = (
        "SELECT pg_backend_pid() AS pid, current_setting('langgraph_durable.asked', true) AS own"
    )
    row = conn.execute(asked, prepare=False).fetchone() or {}
    return row["pid"], row["own"]


def _finds_schema(database: Database) -> bool:
    with database.connect(direct=False) as conn:
        row = conn.execute("SELECT to_regclass('schema_migrations') AS seen").fetchone()
    return row is not None and row["seen"] is not None
