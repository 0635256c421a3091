"""A client of MLflow's agent servers follows its response over a kill."""

from __future__ import annotations

import json
import warnings
from typing import Any

import httpx

from tests.conftest import MakeServer
from tests.crash.gates import Gates
from tests.protocol_adapter.responses.mlflow_types import (
    ResponsesAgentResponse,
    ResponsesAgentStreamEvent,
)

Frame = dict[str, Any]


def frames(text: str) -> list[Frame]:
    """The frames of a stream that came to its end, each one found good by MLflow's types."""
    data = [line.partition("data: ")[2] for line in text.splitlines() if line.startswith("data: ")]
    assert data.pop() == "[DONE]"
    found = [json.loads(each) for each in data]
    for frame in found:
        ResponsesAgentStreamEvent(**frame)
        if "response" in frame and frame["response"]["status"] != "queued":
            ResponsesAgentResponse(**frame["response"])
    return found


def test_every_frame_of_both_attempts_is_good_for_mlflow_and_tells_no_call_twice(
    make_server: MakeServer, database_url: str, gates: Gates
) -> None:
    server = make_server("seed", database_url=database_url, env=gates.env).start()
    body = {"input": [{"role": "user", "content": "hi"}], "background": True}
    own = {"custom_inputs": {"depth": 2}, "context": {"conversation_id": "c-1"}}
    with httpx.Client(base_url=server.url, timeout=20) as http:
        asked = http.post("/responses", json={**body, **own}).json()
        gates.reached("work")
        server.kill()
        gates.open("work")
        server.start()
        told = frames(http.get(f"/responses/{asked['id']}?stream=true").text)
        after = frames(http.get(f"/responses/{asked['id']}?stream=true&starting_after=4").text)
        polled = http.get(f"/responses/{asked['id']}").json()

    assert [frame["sequence_number"] for frame in told] == list(range(len(told)))
    assert {frame["response_id"] for frame in told} == {asked["id"]}
    assert after == told[5:]
    (resumed,) = [frame for frame in told if frame["type"] == "response.resumed"]
    assert (resumed["attempt"], resumed["conversation_id"]) == (2, "c-1")
    done = [f["item"]["type"] for f in told if f["type"] == "response.output_item.done"]
    assert done == ["function_call", "function_call_output", "message"]
    assert told[-1]["custom_outputs"] == {"seen": own}
    with warnings.catch_warnings(action="error"):
        assert ResponsesAgentResponse(**polled).custom_outputs == {"seen": own}
    assert polled == told[-1]["response"]
