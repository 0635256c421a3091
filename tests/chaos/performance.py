"""One run of the harness, from an empty folder to a verdict."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import shutil
import signal
import sys
import time

from tests.chaos.crowd import Crowd
from tests.chaos.evidence import Evidence, read_database, read_journal, read_servers
from tests.chaos.faults import Tormentor
from tests.chaos.mutations import mutated
from tests.chaos.options import Options
from tests.chaos.report import judge, save, table
from tests.chaos.schedule import schedule
from tests.chaos.stage import Stage
from tests.chaos.timeline import Timeline
from tests.logs import query
from tests.servers import ROOT

"""The part of the time in which graphs may end their own process."""


def perform(options: Options) -> bool:
    """Blocking. Did every law hold? Prints the table; keeps the folder unless all is well."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    options.folder.mkdir(parents=True, exist_ok=True)
    found = Evidence(timeline=Timeline(), lease_seconds=options.lease_seconds)
    packages = ROOT
    if options.mutation:
        packages = mutated(options.mutation, options.folder / "packages")
    stage = Stage(options, found.timeline, packages)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        stage.open()
        asyncio.run(_play(options, stage, found))
    finally:
        stage.close()
    verdicts = judge(found)
    text = table(options, found, verdicts)
    save(options.folder, found, verdicts, text)
    print(text, flush=True)
    shutil.rmtree(options.folder / "database", ignore_errors=True)
    return not any(v.breaches for v in verdicts)


async def _play(options: Options, stage: Stage, found: Evidence) -> None:
    found.timeline.began = time.time()
    urls = [place.url for place in stage.places]
    crowd = Crowd(options, urls)
    tormentor = Tormentor(stage, options.seed)
    faults = schedule(
        options.seed,
        seconds=options.seconds,
        every_seconds=options.every_seconds,
        servers=options.workers,
        lease_seconds=options.lease_seconds,
        kinds=options.faults,
    )
    playing = asyncio.create_task(crowd.run())
    telling = asyncio.create_task(_tell(options, stage, crowd))
    await asyncio.to_thread(tormentor.run, faults)
    crowd.stop(give_up_seconds=options.settle_seconds)
    with contextlib.suppress(TimeoutError):  # a client may wait in a stream that never ends
        async with asyncio.timeout(options.settle_seconds + 5):
            await playing
    await _settled(options, stage)
    telling.cancel()
    found.transcripts, found.broken_clients = crowd.transcripts, crowd.broken
    read_database(found, stage.database_url)
    read_journal(found, stage.journal)
    await read_servers(found, urls)


async def _settled(options: Options, stage: Stage) -> None:
    """Wait until nothing waits or runs, at most as long as that may take; servers are up again."""
    deadline = time.monotonic() + options.settle_seconds
    while time.monotonic() < deadline:
        ready = all(p.server.process is not None and _ready(p.server) for p in stage.places)
        unsettled = "SELECT 1 FROM runs WHERE status IN ('pending', 'running') LIMIT 1"
        if ready and not await asyncio.to_thread(query, stage.database_url, unsettled):
            return
        await asyncio.sleep(0.5)


def _ready(server: object) -> bool:
    with contextlib.suppress(AssertionError):
        return bool(server.ready())  # type: ignore[attr-defined]
    return False


async def _tell(options: Options, stage: Stage, crowd: Crowd) -> None:
    """A line every half a minute."""
    while True:
        await asyncio.sleep(30)
        faults = len(stage.timeline.spans)
        runs = sum(t.run_id is not None for t in crowd.transcripts)
        ended = sum(t.finished for t in crowd.transcripts)
        print(f"... {faults} faults, {runs} runs asked for, {ended} read to the end", flush=True)
