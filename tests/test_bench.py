"""The benchmarks still run: a moment of each of two measures, told, written and read again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bench.__main__ import show
from bench.families import FAMILIES
from bench.figures import medians
from bench.report import Report
from bench.rounds import measured
from bench.scale import QUICK
from bench.targets import TARGETS, Target

A_MOMENT = replace(QUICK, rounds=2, seconds=0.1, repeats=2, levels=(1, 2), replayed_events=20)


async def test_a_moment_of_measuring_gives_figures_beside_their_limits_and_an_earlier_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    families = [family for family in FAMILIES if family.name in ("log", "runs", "responses")]
    report = await measured(A_MOMENT, families)
    assert report.families == {"log": "measured", "runs": "measured", "responses": "measured"}
    report.write(tmp_path / "earlier.json")
    assert json.loads((tmp_path / "earlier.json").read_text())["figures"]["wait.sdk.2.per_s"] > 0
    assert Report.read(tmp_path / "earlier.json") == report
    show(report, tmp_path / "earlier.json")
    said = capsys.readouterr().out.splitlines()
    [wait] = [line for line in said if line.startswith("wait.sdk.1.p50_ms ")]
    assert "wait.bare.1.p50_ms" in wait
    assert str(TARGETS["wait.sdk.1.p50_ms"]) in wait
    assert wait.endswith("1.00 x")
    cpu = medians(report.rounds)
    assert cpu["wait.raw.2.server_cpu_ms"] > 0
    assert cpu["wait.bare.2.server_cpu_ms"] > 0
    assert any(line.startswith("replay_responses.raw.total_ms ") for line in said)


def test_a_target_bounds_a_figure_and_its_ratio() -> None:
    target = Target(at_most=9, times_at_most=1.4)
    assert target.kept(9, 1.4)
    assert target.kept(9, None)
    assert not target.kept(9.1, 1)
    assert not target.kept(1, 1.5)
    assert not Target(at_least=150).kept(149, None)
    assert not Target(times_at_least=0.5).kept(1, 0.4)
    assert str(target) == "<= 9, <= 1.4 x"
