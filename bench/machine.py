"""Where and when it was measured; figures of different machines say nothing of each other."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg

PACKAGES = ("langgraph", "langgraph-checkpoint-postgres", "langgraph-sdk", "psycopg", "uvicorn")


def machine(database_url: str) -> dict[str, Any]:
    """What JSON says of it, under names for people."""
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SHOW server_version").fetchone()
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "processors": len(os.sched_getaffinity(0)),
        "model": _model(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "python": platform.python_version(),
        "postgresql": row[0] if row else "?",
        "load": [round(load, 1) for load in os.getloadavg()],
        **{package: version(package) for package in PACKAGES},
    }


def _model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
