"""Two minutes of chaos, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import ROOT, until

SECONDS = 120


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """For one run's artifacts; whatever still works in it afterwards is stopped by force."""
    yield tmp_path / "chaos"
    for pid in processes_of(tmp_path):
        os.kill(pid, signal.SIGKILL)


def processes_of(folder: Path) -> list[int]:
    """Processes whose command line or environment names the folder."""
    name, found = os.fsencode(folder), []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue
        if name in told and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


@pytest.mark.timeout(SECONDS + 240)
def test_all_laws_hold_through_two_minutes_of_faults(folder: Path) -> None:
    command = (sys.executable, "-m", "tests.chaos", "--minutes", str(SECONDS / 60), "--seed", "7")
    with subprocess.Popen(
        (*command, "--clients", "12", "--artifacts", str(folder)),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            told, _ = process.communicate(timeout=SECONDS + 200)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, told
    until(lambda: not processes_of(folder), "no process is left")
