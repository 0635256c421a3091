"""``build_recovery_request``: typed, checked at registration, asked after a crash only."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import SettingsError
from langgraph_durable.model import RecoveryStrategy, RunRequest
from langgraph_durable.policy import RunPolicy
from langgraph_durable.postgres import transaction
from langgraph_durable.recovery import RecoveryContext
from langgraph_durable.serde import decode
from langgraph_durable.served import Served
from langgraph_durable.settings import Settings
from langgraph_durable.store import claims
from tests.conftest import MakeEngine
from tests.logs import query


class State(TypedDict, total=False):
    messages: Annotated[list[Any], add_messages]
    given: str


def echo(state: State) -> State:
    return {"messages": [{"role": "assistant", "content": f"given {state.get('given')}"}]}


builder = StateGraph(State)
builder.add_node("echo", echo)
builder.add_edge(START, "echo")
builder.add_edge("echo", END)
graph = builder.compile()


async def crashed(engine: DurableEngine, database_url: str, request: RunRequest) -> str:
    """A run whose first owner won it and was never heard of again."""
    run = await engine.submit(request)
    async with transaction(engine._machinery.pool) as conn:
        won = await claims.claim(
            conn,
            worker_id="ghost",
            served=Served({"agent": RunPolicy(max_attempts=3)}).rows(),
            slots=1,
            idle=True,
            lease_seconds=60,
        )
    assert [c.run_id for c in won] == [run.run_id]
    query(database_url, "UPDATE runs SET lease_expires_at = now() RETURNING run_id")
    return run.run_id


@pytest.mark.parametrize("strategy", list(RecoveryStrategy))
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_hook_decides_what_a_crashed_run_is_given(
    make_engine: MakeEngine, database_url: str, strategy: RecoveryStrategy, asynchronous: bool
) -> None:
    seen: list[RecoveryContext] = []

    def hook(request: RunRequest, context: RecoveryContext) -> RunRequest:
        seen.append(context)
        return replace(context.default_request(), input={"given": "by the hook", "messages": []})

    async def hook_later(request: RunRequest, context: RecoveryContext) -> RunRequest:
        return hook(request, context)

    asking = await make_engine(graph, works=False, recovery=strategy)
    thread = f"t-{uuid.uuid4()}"
    request = RunRequest(
        assistant="agent", thread_id=thread, if_not_exists="create", input={"given": "x"}
    )
    run_id = await crashed(asking, database_url, request)
    working = await make_engine(graph, hook=hook_later if asynchronous else hook, recovery=strategy)
    run = await working.wait(run_id)
    assert run.status == "success"
    assert decode(run.output or "")["given"] == "by the hook"
    (context,) = seen
    assert (context.attempt, context.previous_attempt) == (2, 1)
    assert context.strategy is strategy
    assert [e.name for e in context.events] == ["created"]
    rotated = strategy is RecoveryStrategy.EVENT_LOG
    assert context.conversation_id == (f"{thread}::attempt-2" if rotated else thread)
    fresh = await working.submit(replace(request, input={"given": "y"}))
    assert decode((await working.wait(fresh.run_id)).output or "")["given"] == "y"
    assert len(seen) == 1


async def test_a_hook_that_returns_something_else_fails_its_run_only(
    make_engine: MakeEngine, database_url: str
) -> None:
    asking = await make_engine(graph, works=False)
    run_id = await crashed(asking, database_url, RunRequest(assistant="agent", input={}))
    working = await make_engine(graph, hook=lambda request, context: {"input": 1})
    run = await working.wait(run_id)
    assert run.status == "error"
    assert "not a RunRequest" in (run.error or {})["message"]


@pytest.mark.parametrize("hook", [lambda request: request, lambda: None, "hook"])
def test_a_hook_with_another_signature_is_refused_at_registration(hook: Any) -> None:
    with pytest.raises(SettingsError, match="request, context"):
        DurableEngine(graph, settings=Settings(), build_recovery_request=hook)


async def test_an_abandoned_run_is_evidence_for_its_successor(
    make_engine: MakeEngine, database_url: str
) -> None:
    asking = await make_engine(graph, works=False, recovery=RecoveryStrategy.EVENT_LOG)
    run_id = await crashed(
        asking, database_url, RunRequest(assistant="agent", input={"messages": ["hello"]})
    )
    working = await make_engine(graph, recovery=RecoveryStrategy.EVENT_LOG)
    run = await working.wait(run_id)
    texts = [m["content"] for m in decode(run.output or "")["messages"]]
    assert texts[0] == "hello"
    assert texts[1].startswith("[RECOVERY]")
    assert texts[2] == "given None"
