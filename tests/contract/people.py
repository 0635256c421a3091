"""What a client of the Responses door sends to answer a question, and reads of a response."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
import openai

from tests.crash.gates import Gates
from tests.servers import Server

Body = dict[str, Any]

MCP = {"type": "mcp", "server_label": "langgraph", "server_url": "https://example.org"}
TOOL = {"type": "function", "name": "langgraph_interrupt", "parameters": {}, "strict": False}
STOCK = {"type": "function", "name": "stock", "parameters": {}, "strict": False}
"""A tool of the client's own."""


class People:
    """A server of ``tests/apps/people`` and a client that keeps nothing."""

    def __init__(self, server: Server, gates: Gates) -> None:
        self.server = server
        self.gates = gates
        self.http = httpx.Client(base_url=server.url, timeout=30)

    def close(self) -> None:
        self.http.close()

    def stock(self) -> openai.OpenAI:
        return openai.OpenAI(base_url=f"{self.server.url}/v1", api_key="-", max_retries=0)

    def post(self, path: str = "/responses", *, key: str | None = None, **body: Any) -> Any:
        headers = {"Idempotency-Key": key} if key else {}
        return self.http.post(path, json=body, headers=headers)

    def ask(self, model: str, given: Any, *, key: str | None = None, **body: Any) -> Body:
        """A response."""
        answer = self.post(key=key, model=model, input=given, **body)
        assert answer.status_code == 200, answer.text
        told: Body = answer.json()
        assert told["object"] == "response"
        return told

    def refused(self, model: str, given: Any, *, key: str | None = None, **body: Any) -> Body:
        """The error of a request, with its status under ``status``."""
        answer = self.post(key=key, model=model, input=given, **body)
        assert answer.status_code >= 400, answer.text
        return {**answer.json()["error"], "status": answer.status_code}

    @contextmanager
    def broken(self) -> Iterator[None]:
        """What people have approved fails meanwhile."""
        fail = self.gates.folder / "fail"
        fail.touch()
        yield
        fail.unlink()

    def threads(self) -> int:
        """How many threads there are."""
        return int(self.http.post("/threads/count", json={}).json())

    def runs(self, conversation: str) -> int:
        """How many runs a conversation had."""
        return len(self.http.get(f"/threads/{conversation}/runs?limit=100").json())


def user(text: str) -> Body:
    return {"role": "user", "content": text}


def approval(question: str, approve: bool = True, **more: Any) -> Body:
    head = {"type": "mcp_approval_response", "approval_request_id": question}
    return {**head, "approve": approve, **more}


def output(call_id: str, value: Any) -> Body:
    text = value if isinstance(value, str) else json.dumps(value)
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def questions(response: Body) -> list[str]:
    """The names by which a response's questions are answered."""
    asked = [item for item in response["output"] if item["type"] == "mcp_approval_request"]
    called = [item for item in response["output"] if item.get("name") == "langgraph_interrupt"]
    return [item["id"] for item in asked] + [item["call_id"] for item in called]


def question(response: Body) -> str:
    [only] = questions(response)
    return only


def text(response: Body) -> str:
    """What a response says."""
    parts = [part for item in response["output"] for part in item.get("content") or ()]
    return "".join(part["text"] for part in parts)


def place(response: Body) -> str:
    """The id of its conversation."""
    return str(response["conversation"]["id"])


REACH: Mapping[str, Callable[[Body], Body]] = {
    "stateless": lambda asked: {},
    "previous response": lambda asked: {"previous_response_id": asked["id"]},
    "conversation": lambda asked: {"conversation": place(asked)},
    "conversation object": lambda asked: {"conversation": asked["conversation"]},
    "thread id": lambda asked: {"custom_inputs": {"thread_id": place(asked)}},
    "session id": lambda asked: {"custom_inputs": {"session_id": place(asked)}},
    "context": lambda asked: {"context": {"conversation_id": place(asked)}},
}
"""How a client names the conversation in which it was asked."""


def sent(asked: Body, answer: Body, reach: str) -> list[Body]:
    """The input of an answering request: who keeps nothing sends all of it again."""
    return [user("pay"), *asked["output"], answer] if reach == "stateless" else [answer]


_FRAME = re.compile(r"event: ([^\r\n]+)\ndata: ([^\r\n]+)")


def frames(stream: bytes) -> list[Body]:
    """The events of a whole stream, read strictly: LF only, and ``[DONE]`` behind them."""
    *blocks, done, rest = stream.decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    told: list[Body] = []
    for block in blocks:
        if block == ": ping":
            continue
        found = _FRAME.fullmatch(block)
        assert found is not None, block
        told.append(json.loads(found[2]))
        assert told[-1]["type"] == found[1]
    return told
