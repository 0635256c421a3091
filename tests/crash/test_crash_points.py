"""A crash between any two durable acts of an attempt: every law, at every such point."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from langgraph_durable import machinery
from langgraph_durable.engine import DurableEngine
from langgraph_durable.model import RecoveryStrategy
from tests.conftest import MakeEngine
from tests.crash.lives import Eye, Life, followed, live, read
from tests.crash.mortal import Doom, MortalWriter
from tests.crash.nodes import journal
from tests.crash.point_laws import breaches
from tests.crash.programs import PROGRAMS
from tests.servers import ROOT

PATIENT = {"lease_seconds": 60.0, "heartbeat_seconds": 20.0, "claim_poll_seconds": 0.05}
"""Nobody's lease runs out or is renewed while a test looks: who is dead is said to be."""

LIVES = 6
"""Lives at the same time."""

RECOVERIES = 7
"""Commits of a recovery, before one of which it crashes as well."""

KILLED = (
    ("chain", 3),
    *(("parallel", commit) for commit in range(2, 8)),
    ("sends", 8),
    ("subgraph", 12),
    ("tools", 8),
    ("purchases", 6),
    ("function", 5),
)
"""At which commit a real process is killed: far from the last, whose number depends on timing."""


@pytest.fixture
def eye(database_url: str, tmp_path: Path) -> Iterator[Eye]:
    made = Eye(database_url)
    journal.open(tmp_path / "journal")
    yield made
    made.close()


class Lives:
    """Lives of one program on one engine."""

    def __init__(self, engine: DurableEngine, eye: Eye, name: str) -> None:
        self._engine, self._eye, self._program = engine, eye, PROGRAMS[name]
        self._rotates = engine.settings.recovery is RecoveryStrategy.EVENT_LOG
        self._places = asyncio.Semaphore(LIVES)

    async def live(self, *deaths: int, behind: bool = False) -> Life:
        thread, doom = str(uuid.uuid4()), Doom(deaths=list(deaths), behind=behind)
        async with self._places:
            return await live(
                self._engine, self._eye, self._program, thread, doom, rotates=self._rotates
            )


@pytest.mark.parametrize("strategy", list(RecoveryStrategy))
@pytest.mark.parametrize("name", PROGRAMS)
async def test_every_law_holds_whatever_was_the_last_thing_to_become_durable(
    name: str,
    strategy: RecoveryStrategy,
    eye: Eye,
    make_engine: MakeEngine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """langchain-ai/langgraph#8039: the order of two writes decided what ran again."""
    monkeypatch.setattr(machinery, "Writer", MortalWriter)
    monkeypatch.setattr(MortalWriter, "kill", eye.kill, raising=False)
    engine = await make_engine(PROGRAMS[name].graph, recovery=strategy, **PATIENT)
    lives = Lives(engine, eye, name)
    undisturbed = await lives.live()
    assert_lawful([undisturbed])
    points = range(len(undisturbed.doom.commits))

    crashed = [lives.live(point) for point in points]
    crashed += [lives.live(point, point % RECOVERIES) for point in points[::4]]
    if PROGRAMS[name].once:  # before a call is made and behind it, there is the same in the log
        crashed += [lives.live(point + 1, behind=True) for point in points]
    lived = await asyncio.gather(*crashed)

    assert_lawful(lived)
    gc.collect()
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []
    # Events that come close together are one change: a life may have a commit less than the first,
    # and a cancel may come one earlier.
    unhurt = sum(not life.doom.crashes for life in lived)
    assert unhurt <= max(1, len(lived) // 10)


def assert_lawful(lived: Iterable[Life]) -> None:
    assert "\n".join(text for life in lived for text in breaches(life)) == ""


@pytest.mark.parametrize("strategy", list(RecoveryStrategy))
async def test_every_law_holds_behind_a_real_sigkill(
    strategy: RecoveryStrategy, eye: Eye, make_engine: MakeEngine, database_url: str, tmp_path: Path
) -> None:
    """langchain-ai/langgraph#8039: the order of two writes decided what ran again."""
    graphs = {f"{name}:{strategy}:{commit}": PROGRAMS[name] for name, commit in KILLED}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.crash.killed", database_url, *graphs),
        env={**os.environ, "CRASH_POINTS_JOURNAL": str(tmp_path / "journal")},
        cwd=ROOT,
    )
    assert await process.wait() == 0

    left = {row["thread_id"]: str(row["run_id"]) for row in eye.rows("SELECT * FROM runs")}
    crashes = {graph: eye.crash(run_id, graph) for graph, run_id in left.items()}
    engine = await make_engine(
        {graph: program.graph for graph, program in graphs.items()},
        recovery=strategy,
        liveness_grace_seconds=0.1,
    )
    rotates = strategy is RecoveryStrategy.EVENT_LOG
    for graph, program in graphs.items():
        life = Life(program=program, rotates=rotates, doom=Doom(crashes=[crashes[graph]]))
        life.seen[left[graph]] = await followed(engine, left[graph], program.turns[0])
        await read(engine, eye, life, graph)
        assert_lawful([life])
