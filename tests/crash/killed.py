"""A program whose children each execute one run and are killed at one of its commits.

    python -m tests.crash.killed <database> <graph> ...

A graph is called ``<program>:<strategy>:<commit>``, so that no child takes what another one left.
The program ends with 0 when SIGKILL has ended them all.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from langgraph_durable import machinery
from langgraph_durable.engine import DurableEngine
from langgraph_durable.eventlog.batch import Group
from langgraph_durable.settings import Settings
from tests.crash.lives import request
from tests.crash.mortal import Crash, Doom, MortalWriter
from tests.crash.programs import PROGRAMS


def kill(_: Group, change: str) -> Crash:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("this process is dead")


async def execute(database_url: str, graph: str) -> None:
    name, strategy, commit = graph.split(":")
    program = PROGRAMS[name]
    MortalWriter.kill = kill
    MortalWriter.dooms[graph] = Doom(deaths=[int(commit)])
    vars(machinery)["Writer"] = MortalWriter
    settings = Settings(database_url=database_url)
    async with DurableEngine(
        {graph: program.graph}, settings=settings, recovery=strategy
    ) as engine:
        run = await engine.submit(request(graph, program.turns[0], graph=graph))
        await engine.wait(run.run_id)


def child(database_url: str, graph: str) -> int:
    if (pid := os.fork()) == 0:
        asyncio.run(execute(database_url, graph))
        os._exit(1)
    return pid


def main(database_url: str, *graphs: str) -> int:
    children = [child(database_url, graph) for graph in graphs]
    ends = [os.waitpid(pid, 0)[1] for pid in children]
    return sum(os.waitstatus_to_exitcode(end) != -signal.SIGKILL for end in ends)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
