"""Many runs without anybody's having asked for them: rows that SQL makes."""

from __future__ import annotations

import psycopg

PER_THREAD = 100

THREADS = """
INSERT INTO threads (thread_id, checkpoint_thread_id, next_ticket)
SELECT name, name, %(tickets)s
FROM generate_series(0, %(count)s - 1) AS n, LATERAL (SELECT %(prefix)s || n AS name) AS named
"""
PENDING = """
INSERT INTO runs (run_id, thread_id, ticket, assistant_id, graph_id, strategy, request, next_seq)
SELECT gen_random_uuid(), %(prefix)s || n, 0, request.assistant_id, 'echo', request.strategy,
       request.request, 0
FROM generate_series(0, %(count)s - 1) AS n, (
    SELECT * FROM runs WHERE graph_id = 'echo' ORDER BY created_at LIMIT 1) AS request
"""
FINISHED = """
INSERT INTO runs (run_id, thread_id, ticket, assistant_id, graph_id, strategy, request, next_seq,
                  status, attempt, output, created_at, started_at, finished_at)
SELECT gen_random_uuid(), %(prefix)s || n / %(per_thread)s, n %% %(per_thread)s,
       request.assistant_id, 'echo', request.strategy, request.request, 7,
       'success', 1, request.output, past, past, past
FROM generate_series(0, %(count)s - 1) AS n,
     LATERAL (SELECT now() - n * interval '1 second' AS past) AS moment,
     (SELECT * FROM runs WHERE graph_id = 'echo' ORDER BY created_at LIMIT 1) AS request
"""


def add_pending(url: str, prefix: str, count: int, *, known: bool = True) -> None:
    """Runs of the graph ``echo`` that are due, each on a thread of its own, like its first one.

    ``known`` to PostgreSQL's statistics at the same moment.
    """
    with _connected(url) as connection:
        names = {"prefix": prefix, "count": count}
        connection.execute(THREADS, {**names, "tickets": 1})
        connection.execute(PENDING, names)
        if known:
            connection.execute("ANALYZE threads, runs")


def add_finished(url: str, count: int) -> None:
    """Runs of the graph ``echo`` that have ended, a hundred to a thread, like its first one."""
    with _connected(url) as connection:
        names = {"prefix": "finished-", "count": count // PER_THREAD}
        connection.execute(THREADS, {**names, "tickets": PER_THREAD})
        connection.execute(FINISHED, {**names, "count": count, "per_thread": PER_THREAD})
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE langgraph_durable.runs")
        connection.execute("VACUUM ANALYZE langgraph_durable.threads")


def drop_pending(url: str) -> None:
    """What is left of them."""
    with _connected(url) as connection:
        connection.execute("DELETE FROM runs WHERE status = 'pending'")


def _connected(url: str) -> psycopg.Connection:
    return psycopg.connect(url, options="-c search_path=langgraph_durable")
