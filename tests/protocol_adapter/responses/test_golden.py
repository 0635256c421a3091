"""Recorded runs are told for ever as they were told when they were recorded."""

from __future__ import annotations

import pytest

from protocol_adapter.responses.stream import PROJECTION_VERSION

from . import goldens


def test_there_are_recorded_runs_of_many_kinds() -> None:
    assert len(goldens.KINDS) >= 10
    logs = [goldens.read(kind) for kind in goldens.KINDS]
    ends = {golden.frames[-1]["type"] for golden in logs}
    assert ends == {"response.completed", "response.failed", "response.incomplete"}
    told = {frame["type"] for golden in logs for frame in golden.frames}
    assert {"response.resumed", "response.mcp_call.completed", "response.queued"} <= told


@pytest.mark.parametrize("kind", goldens.KINDS)
def test_frames_change_with_a_new_version_of_the_fold_only(kind: str) -> None:
    golden = goldens.read(kind)
    told = goldens.told(golden.run, golden.log)

    assert golden.version == PROJECTION_VERSION, "record the frames of the new version"
    assert told == golden.frames, "these frames need a PROJECTION_VERSION of their own"


@pytest.mark.parametrize("kind", goldens.KINDS)
def test_recorded_frames_keep_the_laws_of_the_stream(kind: str) -> None:
    frames = goldens.read(kind).frames
    kinds = [frame["type"] for frame in frames]
    added = [f["output_index"] for f in frames if f["type"] == "response.output_item.added"]
    done = [f["output_index"] for f in frames if f["type"] == "response.output_item.done"]

    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert kinds.count("response.created") == 1
    assert kinds[0] == "response.created"
    assert added == list(range(len(added)))
    assert sorted(done) == added
