"""The database's disk is full for a while: callers come again, runs wait, nothing is lost."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from tests.conftest import MakeServer
from tests.crash.conftest import Sdk
from tests.crash.gates import Gates
from tests.logs import query, read_log

SIZE = "110m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with hardly more room than an empty database needs; only root can mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """A file that leaves no room for anything."""
    fat = disk / "fat"
    with fat.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 65536)
    return fat


async def test_a_full_disk_is_told_to_callers_and_waited_out_by_runs(
    small_disk: Path, make_server: MakeServer, gates: Gates, sdk: Sdk
) -> None:
    server = make_server(
        "crash", env={**gates.env, "LANGGRAPH_DURABLE_HOME": str(small_disk)}
    ).start()
    url = EmbeddedPostgres(small_disk).dsn
    client = sdk(server.url)
    thread = await client.threads.create()
    run = await client.runs.create(thread["thread_id"], "steps", input={"items": []})
    await asyncio.to_thread(gates.reached, "two")
    fat = fill(small_disk)
    async with httpx.AsyncClient(base_url=server.url, timeout=20) as http:
        body = {"metadata": {"large": "x" * 200_000}}
        answers = [await http.post("/threads", json=body) for _ in range(12)]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert refused
        assert {answer.status_code for answer in refused} == {503}
        assert all(answer.headers["retry-after"] == "1" for answer in refused)
        gates.open("two")
        joining = asyncio.create_task(client.runs.join(thread["thread_id"], run["run_id"]))
        assert (await http.get("/ok")).status_code == 200
    fat.unlink()
    assert (await joining)["items"] == ["one", "two", "three"]
    assert query(url, "SELECT status, crashes FROM runs") == [{"status": "success", "crashes": 0}]
    assert [e.name for e in read_log(url, run["run_id"])].count("end") == 1
    assert gates.executions() == ["one", "two", "three"]
