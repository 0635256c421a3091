"""The table of faults and laws, and everything behind it as files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.evidence import Evidence
from tests.chaos.laws import LAWS
from tests.chaos.options import Options
from tests.chaos.schedule import FAULTS

SHOWN = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """One law: how many things it looked at, and what breaks it."""

    law: str
    looked_at: int
    breaches: tuple[str, ...]


def judge(found: Evidence) -> list[Verdict]:
    """Every law; one that cannot even be checked is broken."""
    verdicts = []
    for law in LAWS:
        try:
            breaches = tuple(law.breaches(found))
        except Exception as error:
            breaches = (f"cannot be checked: {type(error).__name__}: {error}",)
        verdicts.append(Verdict(law.name, law.count(found), breaches))
    return verdicts


def table(options: Options, found: Evidence, verdicts: list[Verdict]) -> str:
    """What a person reads."""
    parts = [
        _title(options, found),
        _faults(found),
        _laws(verdicts),
        *(_breaches(v) for v in verdicts if v.breaches),
    ]
    broken = sum(len(v.breaches) for v in verdicts)
    parts.append(f"{broken} breaches. Artifacts: {options.folder}\nAgain: {options.replay}")
    return "\n\n".join(parts)


def _title(options: Options, found: Evidence) -> str:
    seconds = found.timeline.faults_ended - found.timeline.began
    mutation = f", mutation {options.mutation}" if options.mutation else ""
    doors = Counter(t.door for t in found.acknowledged())
    clients = ", ".join(f"{count} {door}" for door, count in sorted(doors.items()))
    connections = sum(len(t.connections) for t in found.transcripts)
    frames = sum(t.read for t in found.transcripts)
    again = sum(r["attempt"] > 1 for r in found.runs.values())
    return (
        f"chaos: {seconds:.0f} s, seed {options.seed}, {options.workers} processes{mutation}\n"
        f"runs: {len(found.runs)} ({clients}; {again} needed more than one attempt),"
        f" statuses: {_counted(r['status'] for r in found.runs.values())}\n"
        f"readers: {connections} connections, {frames} frames"
    )


def _counted(things: Any) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(Counter(things).items()))


def _faults(found: Evidence) -> str:
    happened = Counter(s.kind for s in found.timeline.spans)
    exits = sum(d.code == 77 for d in found.timeline.deaths)
    rows = [f"{kind:<20}{happened[kind]:>6}" for kind in FAULTS if happened[kind]]
    rows.append(f"{'exit by a graph':<20}{exits:>6}")
    rows.append(f"{'all':<20}{sum(happened.values()) + exits:>6}")
    return "\n".join([f"{'fault':<20}{'count':>6}", *rows])


def _laws(verdicts: list[Verdict]) -> str:
    head = f"{'law':<58}{'checked':>9}{'breaches':>10}"
    rows = [f"{v.law:<58}{v.looked_at:>9}{len(v.breaches):>10}" for v in verdicts]
    return "\n".join([head, *rows])


def _breaches(verdict: Verdict) -> str:
    shown = "\n".join(f"  - {b}" for b in verdict.breaches[:SHOWN])
    rest = len(verdict.breaches) - SHOWN
    return f"{verdict.law}:\n{shown}" + (f"\n  ... and {rest} more" if rest > 0 else "")


def save(folder: Path, found: Evidence, verdicts: list[Verdict], text: str) -> None:
    """Everything a breach can be understood from, as JSON."""
    (folder / "report.txt").write_text(text + "\n")
    _write(folder / "breaches.json", {v.law: v.breaches for v in verdicts if v.breaches})
    _write(folder / "timeline.json", found.timeline.dump())
    _write(folder / "runs.json", found.runs)
    _write(folder / "events.json", found.logs)
    _write(folder / "journal.json", found.journal)
    _write(folder / "ledger.json", found.calls)
    _write(folder / "checkpoints.json", found.checkpoints)
    _write(folder / "threads.json", {"rows": found.threads, "states": found.states})
    _write(folder / "transcripts.json", [t.dump() for t in found.transcripts])


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, default=str))
