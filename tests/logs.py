"""Reading a run's log past every door."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.rows import dict_row

from langgraph_durable.model import Event


def query(database_url: str, statement: str, parameters: Any = ()) -> list[dict[str, Any]]:
    """Rows of one statement on the test's database."""
    options = "-c search_path=langgraph_durable"
    with psycopg.connect(database_url, options=options, row_factory=dict_row) as conn:
        cursor = conn.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def read_log(database_url: str, run_id: str) -> list[Event]:
    """The whole log, proved dense."""
    rows = query(
        database_url,
        "SELECT run_id::text, seq, attempt, name, data, task_id, checkpoint_id"
        " FROM events WHERE run_id = %s ORDER BY seq",
        (run_id,),
    )
    events = [Event(**row) for row in rows]
    assert [e.seq for e in events] == list(range(len(events)))
    return events
