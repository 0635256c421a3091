"""Measure, print, compare: ``python -m bench --help``."""

from __future__ import annotations

import argparse
import asyncio
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.families import FAMILIES, Family
from bench.figures import medians
from bench.report import Report
from bench.rounds import measured
from bench.scale import FULL, QUICK

NAMES = ",".join(family.name for family in FAMILIES)


def main(arguments: Sequence[str] | None = None) -> int:
    """1 if a family could not be measured; no figure is too bad."""
    options = _parser().parse_args(arguments)
    _many_connections()
    scale = QUICK if options.quick else FULL
    if options.rounds:
        scale = replace(scale, rounds=options.rounds)
    report = asyncio.run(measured(scale, options.only))
    if options.json:
        report.write(options.json)
    show(report, options.against)
    return 0 if set(report.families.values()) == {"measured"} else 1


def show(report: Report, against: Path | None = None) -> None:
    """On standard output."""
    for name, value in report.machine.items():
        print(f"{name}: {value}")
    print()
    for line in report.lines(medians(Report.read(against).rounds) if against else None):
        print(line)
    for name, outcome in report.families.items():
        if outcome != "measured":
            print(f"{name}: not measured: {outcome}")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, less of everything")
    parser.add_argument("--rounds", type=int, metavar="N", help="instead of the scale's own")
    parser.add_argument("--only", type=_families, default=FAMILIES, metavar="NAMES", help=NAMES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--against", type=Path, metavar="FILE", help="an earlier --json")
    return parser


def _families(names: str) -> tuple[Family, ...]:
    known = {family.name: family for family in FAMILIES}
    try:
        return tuple(known[name.strip()] for name in names.split(","))
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error} is none of {NAMES}") from None


def _many_connections() -> None:
    """As many files as may be, for this process and its servers."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    sys.exit(main())
