"""What processes have used, from ``/proc``: processor time, memory, and by whom else."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> set[int]:
    """A process and what descends from it; empty when it is gone."""
    try:
        children = [
            int(child)
            for task in (_PROC / str(pid) / "task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except OSError:
        return set()
    return {pid}.union(*map(tree, children))


def cpu_seconds(pid: int) -> float:
    """Of a process, what descends from it, and those of them that have ended."""
    return sum(sum(_times(member)) for member in tree(pid))


def resident_mb(pid: int) -> float:
    """Memory of a process and what descends from it, as the kernel counts it for each."""
    return sum(_resident_kb(member) for member in tree(pid)) / 1024


def everybody() -> dict[int, tuple[str, float]]:
    """Name and processor seconds of each process there is."""
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return {pid: (_name(pid), sum(_times(pid)[:2])) for pid in pids}


def busiest(
    before: dict[int, tuple[str, float]], after: dict[int, tuple[str, float]], ours: set[int]
) -> dict[str, float]:
    """The three names that used most processor time meanwhile, in seconds, ``ours`` left out."""
    used: dict[str, float] = {}
    for pid, (name, seconds) in after.items():
        was, earlier = before.get(pid, (name, 0.0))
        if pid not in ours and was == name:
            used[name] = used.get(name, 0.0) + seconds - earlier
    most = sorted(used, key=used.__getitem__, reverse=True)[:3]
    return {name: round(used[name], 1) for name in most}


def _times(pid: int) -> tuple[float, ...]:
    """User and system time, and both of its children that it has waited for."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return (0.0,) * 4
    return tuple(int(field) / _TICKS for field in fields[11:15])


def _name(pid: int) -> str:
    try:
        return (_PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "?"


def _resident_kb(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)
