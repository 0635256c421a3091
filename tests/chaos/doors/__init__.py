"""One client for each protocol; all of them remember what they saw."""

from __future__ import annotations

from tests.chaos.doors.door import Door, Talk
from tests.chaos.doors.invocations import InvocationsDoor
from tests.chaos.doors.langgraph import LangGraphDoor
from tests.chaos.doors.responses import ResponsesDoor
from tests.chaos.doors.sdk import SdkDoor

DOORS: dict[str, type[Door]] = {
    "langgraph": LangGraphDoor,
    "sdk": SdkDoor,
    "responses": ResponsesDoor,
    "invocations": InvocationsDoor,
}

__all__ = ["DOORS", "Door", "Talk"]
