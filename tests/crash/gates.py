"""The other side of the gates in ``tests/apps/crash/graphs.py``."""

from __future__ import annotations

from pathlib import Path

from tests.servers import until


class Gates:
    """Where graphs wait, and what they have executed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def env(self) -> dict[str, str]:
        return {"GATES": str(self.folder)}

    def reached(self, name: str) -> None:
        """Wait until a node waits at the gate."""
        until((self.folder / f"{name}.reached").exists, f"gate {name} is reached")

    def close(self, name: str) -> None:
        """Nobody is known to wait at the gate any more."""
        (self.folder / f"{name}.reached").unlink(missing_ok=True)

    def shut(self, name: str) -> None:
        """Nodes wait at the gate again, and nobody is known to."""
        self.close(name)
        (self.folder / f"{name}.open").unlink(missing_ok=True)

    def open(self, *names: str) -> None:
        for name in names:
            (self.folder / f"{name}.open").touch()

    def executions(self) -> list[str]:
        """Names of executed nodes, in order, over all processes."""
        file = self.folder / "executions"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.rsplit(" ", 1)[0] for line in lines]

    def count(self, name: str) -> int:
        return self.executions().count(name)
