"""Several rounds of every family, one family after the other, so that a disturbance hits one."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Sequence

from bench.families import Family
from bench.figures import Figures
from bench.machine import machine
from bench.processes import busiest, everybody, tree
from bench.report import Report
from bench.scale import Scale
from bench.stage import Stage, stage


async def measured(scale: Scale, families: Sequence[Family]) -> Report:
    """Each family in each round; one that fails is told of and left out of the rest."""
    before, began = everybody(), time.perf_counter()
    async with stage(scale) as place:
        told = machine(place.postgres.url)
        rounds: list[Figures] = []
        outcome: dict[str, str] = {}
        for number in range(scale.rounds):
            figures: Figures = {}
            for family in families:
                if outcome.get(family.name, "measured") == "measured" and not (
                    number and family.once
                ):
                    outcome[family.name] = await _measured(family, place, figures, number)
            rounds.append(figures)
        ours = tree(os.getpid()) | tree(place.postgres.pid)
        told["others_cpu_seconds"] = busiest(before, everybody(), ours)
    told["seconds"] = round(time.perf_counter() - began)
    return Report(told, rounds, outcome)


async def _measured(family: Family, place: Stage, figures: Figures, number: int) -> str:
    began = time.perf_counter()
    try:
        figures |= await family.measure(place)
    except Exception as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - began
    print(f"round {number + 1}: {family.name} {seconds:.1f} s", file=sys.stderr, flush=True)
    return "measured"
