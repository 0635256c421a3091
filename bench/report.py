"""What was measured, as a table for people and as JSON for the next time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from bench.figures import Figures, medians, ratios, spreads
from bench.targets import TARGETS, limits

HEADINGS = ("", "value", "rounds", "limit", "ratio", "target", "")
WAS = ("was", "now/was")


@dataclass(frozen=True)
class Report:
    machine: dict[str, Any]
    rounds: list[Figures]
    families: dict[str, str] = field(default_factory=dict)
    """What became of each: ``measured``, or the error that ended it."""

    @classmethod
    def read(cls, file: Path) -> Self:
        found = json.loads(file.read_text())
        return cls(found["machine"], found["rounds"], found["families"])

    def write(self, file: Path) -> None:
        told = {**asdict(self), "figures": medians(self.rounds), "ratios": self.ratios}
        file.write_text(json.dumps(told, indent=1) + "\n")

    @property
    def ratios(self) -> Figures:
        return ratios(self.rounds, limits(medians(self.rounds)))

    def lines(self, earlier: Figures | None = None) -> Iterator[str]:
        """The table; with what each figure ``earlier`` was, if that is known."""
        rows = list(self._rows(earlier))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            name, *cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield "  ".join((name, *cells)).rstrip()

    def _rows(self, earlier: Figures | None) -> Iterator[tuple[str, ...]]:
        yield HEADINGS if earlier is None else HEADINGS + WAS
        for name in medians(self.rounds):
            row = self._row(name)
            yield row if earlier is None else row + self._was(name, earlier)

    def _row(self, name: str) -> tuple[str, ...]:
        values, times = medians(self.rounds), self.ratios.get(name)
        value, (least, most) = values[name], spreads(self.rounds)[name]
        limit, target = limits(values).get(name), TARGETS.get(name)
        return (
            name,
            number(value),
            "" if least == most else f"{number(least)} .. {number(most)}",
            f"{number(values[limit])} {limit}" if limit else "",
            "" if times is None else f"{times:.2f} x",
            str(target or ""),
            "" if target is None else "kept" if target.kept(value, times) else "MISSED",
        )

    def _was(self, name: str, earlier: Figures) -> tuple[str, ...]:
        was = earlier.get(name)
        if was is None:
            return "", ""
        return number(was), f"{medians(self.rounds)[name] / was:.2f} x" if was else ""


def number(value: float) -> str:
    """Three digits, or all in front of the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
