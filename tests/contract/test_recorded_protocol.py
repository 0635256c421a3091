"""The recorded session of the event protocol: commands, and events of all channels."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.contract.matching import difference
from tests.contract.recordings.calls import Call, get, post
from tests.contract.recordings.coverage import shows
from tests.contract.recordings.shapes import UUID, new_thread
from tests.contract.replaying import play, send

STARTED = {"assistant_id": "slow", "input": {"delay": 0.01}}
CHANNELS = ["values", "lifecycle", "updates", "custom", "messages"]


def start(number: int, keep: str) -> Call:
    return post(
        "/threads/{thread}/commands",
        {"id": number, "method": "run.start", "params": STARTED},
        shape={
            "type": "success",
            "id": number,
            "result": {"run_id": UUID},
            "meta": {"applied_through_seq": int},
        },
        keep={keep: "result.run_id"},
    )


def completes(event: Any) -> bool:
    data = event["params"]["data"]
    return event["method"] == "lifecycle" and data["event"] == "completed"


async def session(http: httpx.AsyncClient, kept: dict[str, str]) -> list[Any]:
    """The events of a thread until a run is completed; each is whole."""
    opened = post("/threads/{thread}/stream/events", {"channels": CHANNELS})
    response = await send(http, opened, kept)
    lines: list[str] = []
    events: list[Any] = []
    async for line in response.aiter_lines():
        if line:
            lines.append(line)
            continue
        if lines[0].startswith("event:"):
            name, data, place = (each.split(": ", 1)[1] for each in lines)
            events.append(json.loads(data))
            assert (name, int(place)) == (events[-1]["method"], events[-1]["seq"])
        lines.clear()
        if events and completes(events[-1]):
            break
    await response.aclose()
    return events


def told(run: str) -> list[dict[str, Any]]:
    """What the channels ``lifecycle`` and ``values`` tell of a run."""
    here = {"namespace": [], "timestamp": int}
    values = {"type": "event", "event_id": str, "seq": int, "method": "values"}
    state = {**values, "params": {**here, "data": {"delay": 0.01, "steps": list}}}

    def life(event: str) -> dict[str, Any]:
        data = {"event": event, "graph_name": "slow"}
        about = {"type": "event", "event_id": f"synth:{run}:lc||{event}", "method": "lifecycle"}
        return {**about, "params": {**here, "data": data}}

    return [life("running"), *[state] * 6, life("completed")]


async def tells(http: httpx.AsyncClient, kept: dict[str, str], run: str) -> None:
    """A new stream begins with the latest run."""
    events = await session(http, kept)
    recorded = [e for e in events if e["method"] in ("lifecycle", "values")]
    assert difference(recorded, told(run), kept) is None
    assert {e["method"] for e in events} == {"lifecycle", "values", "updates", "custom"}
    assert [e["seq"] for e in events] == sorted({e["seq"] for e in events})


@shows("misc 0 2-3 5-6")
async def test_commands_start_runs_and_one_stream_tells_of_them(http: httpx.AsyncClient) -> None:
    """Recorded were the channels that the run itself streams; see ``asked-channels``."""
    runs = get("/threads/{thread}/runs?limit=2&offset=0", shape=[{"run_id": "{first}"}])
    kept = await play(http, [new_thread(), start(1, "first"), runs], "protocol")
    await tells(http, kept, "{first}")
    kept |= await play(http, [start(2, "second")], "protocol", **kept)
    await tells(http, kept, "{second}")
