"""The engine inside a program, without HTTP: the same durability through kill -9."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import APPS
from tests.crash.gates import Gates
from tests.servers import ROOT, until

PROGRAM = APPS / "library" / "program.py"


@pytest.fixture
def program(gates: Gates, tmp_path: Path) -> Iterator[Program]:
    made = Program(gates, tmp_path)
    yield made
    made.close()


class Program:
    """``tests/apps/library``, in a folder where its embedded database lives."""

    def __init__(self, gates: Gates, folder: Path) -> None:
        self._folder = folder
        self._env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PG", "DATABASE"))},
            **gates.env,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(APPS / "crash")]),
        }
        self._running: list[subprocess.Popen[str]] = []

    def start(self) -> subprocess.Popen[str]:
        with (self._folder / "errors").open("a") as errors:
            process = subprocess.Popen(
                (sys.executable, str(PROGRAM)),
                env=self._env,
                cwd=self._folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._running.append(process)
        return process

    def close(self) -> None:
        for process in self._running:
            process.kill()
            process.communicate(timeout=20)
        # The database leaves by itself once nobody uses it.
        pid = self._folder / ".langgraph_durable" / "postgres" / "postmaster.pid"
        until(lambda: not pid.exists(), "the embedded database has stopped")


def test_a_program_that_is_killed_and_started_again_ends_its_run(
    program: Program, gates: Gates, tmp_path: Path
) -> None:
    first = program.start()
    until(lambda: (gates.folder / "two.reached").exists(), "the second node", seconds=60)
    first.kill()
    before = first.stdout.read().splitlines() if first.stdout else []
    gates.open("two")

    told, _ = program.start().communicate(timeout=60)

    *log, output = told.splitlines()
    assert before
    assert log[: len(before)] == before
    assert [line.split()[0] for line in log] == [str(seq) for seq in range(len(log))]
    assert [line.split()[1:] for line in log].count(["2", "recovered"]) == 1
    assert log[-1].endswith("2 end")
    assert output == '{"items":["in","one","two","three"]}'
    assert {name: gates.count(name) for name in ("one", "two", "three")} == {
        "one": 1,
        "two": 2,
        "three": 1,
    }
    again, _ = program.start().communicate(timeout=60)
    assert again == told
