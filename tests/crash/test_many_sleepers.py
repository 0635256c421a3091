"""Sleeping costs a server nothing, however many do it, and they wake in the order of their time."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.conftest import CrashServer
from tests.logs import query
from tests.servers import Server, until
from tests.waiting import HOUR, pass_time

SLEEPERS, BATCH, SLOTS = 1000, 100, 10
COUNT = "SELECT count(*) AS n FROM runs WHERE asleep AND status = 'pending'"
LEFT = "SELECT count(*) AS n FROM runs WHERE status IN ('pending', 'running')"
WOKEN = """
SELECT (r.request::jsonb -> 'input' ->> 'seconds')::float8 AS seconds
FROM runs r JOIN events e ON e.run_id = r.run_id AND e.name = 'end'
WHERE r.created_at > %s ORDER BY e.created_at
"""


def memory(server: Server) -> int:
    """What the process has in memory, in kB."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def number(server: Server, statement: str) -> int:
    return int(query(server.database_url, statement)[0]["n"])


def put_to_sleep(server: Server, count: int) -> list[float]:
    """So many runs, each for a time of its own."""
    spans = random.Random(7).sample(range(int(HOUR), int(HOUR) + 100 * count), count)
    before = number(server, COUNT)
    with httpx.Client(base_url=server.url, timeout=60) as http:
        for first in range(0, count, BATCH):
            batch = [
                {"assistant_id": "alarm", "input": {"seconds": s}, "stream_mode": ["updates"]}
                for s in spans[first : first + BATCH]
            ]
            assert http.post("/runs/batch", json=batch).status_code == 200
    until(lambda: number(server, COUNT) == before + count, "all sleep", seconds=count / 5)
    return [float(s) for s in spans]


def check_many(server: Server, count: int) -> dict[str, Any]:
    """Memory before and while they sleep, in kB, and how they woke."""
    put_to_sleep(server, BATCH * 2)
    pass_time(server.database_url, HOUR + 100 * BATCH * 2)
    until(lambda: number(server, LEFT) == 0, "the first ones are through", seconds=60)
    before = memory(server)
    [now] = query(server.database_url, "SELECT now() AS at")
    spans = put_to_sleep(server, count)
    while_asleep = memory(server)
    pass_time(server.database_url, HOUR + 100 * count)
    until(lambda: number(server, LEFT) == 0, "all have woken", seconds=count / 5)
    woken = [row["seconds"] for row in query(server.database_url, WOKEN, (now["at"],))]
    due = {seconds: place for place, seconds in enumerate(sorted(spans))}
    late = max(abs(place - due[seconds]) for place, seconds in enumerate(woken))
    return {"before": before, "asleep": while_asleep, "woken": len(woken), "late": late}


@pytest.mark.timeout(300)
def test_sleepers_take_no_memory_and_wake_in_the_order_of_their_time(
    crash_server: CrashServer,
) -> None:
    server = crash_server(jobs_per_worker=SLOTS).start()
    found = check_many(server, SLEEPERS)
    assert found["asleep"] < found["before"] * 1.1, found
    assert found["woken"] == SLEEPERS
    # They are claimed in order and then run beside each other.
    assert found["late"] <= 2 * SLOTS, found
