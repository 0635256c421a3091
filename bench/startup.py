"""How soon a server answers, what it occupies then, and how soon the command line says anything."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figures, quantile
from bench.rates import timed
from bench.served import served

IDLE_SECONDS = 1.0
TIMES = 5
IMPORTS = (
    "import langgraph.graph, langgraph.checkpoint.postgres.aio, starlette.applications, uvicorn;"
    "print(next(line for line in open('/proc/self/status') if line.startswith('VmRSS')).split()[1])"
)


async def measure(_: object) -> Figures:
    """``ready`` is of the second start: the database is made, the code is compiled."""
    with tempfile.TemporaryDirectory(prefix="bench-start-") as folder:
        async with served(Path(folder)) as server:
            first = server.started_in
        async with served(Path(folder)) as server:
            ready = server.started_in
            await asyncio.sleep(IDLE_SECONDS)
            resident = server.resident_mb()
    imports, kilobytes = await _seconds("-c", IMPORTS)
    return {
        "start.first_s": first,
        "start.ready_s": ready,
        "start.imports_s": imports,
        "start.resident_mb": resident,
        "start.imports_mb": int(kilobytes) / 1024,
        "start.version_ms": 1000 * await _middle("-m", "langgraph_durable", "version"),
        "start.python_ms": 1000 * await _middle("-c", "pass"),
    }


async def _middle(*arguments: str) -> float:
    return quantile([(await _seconds(*arguments))[0] for _ in range(TIMES)], 0.5)


async def _seconds(*arguments: str) -> tuple[float, str]:
    """What a Python takes, and says."""
    said: list[str] = []

    def run(command: Sequence[str]) -> None:
        said.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    took = await timed(asyncio.to_thread(run, (sys.executable, *arguments)))
    return took, said[0]
