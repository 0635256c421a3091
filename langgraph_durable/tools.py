"""Calls with side effects, made once: a gateway for tools, and ``once`` for everything else.

    tools = ToolNode([pay, look_up], awrap_tool_call=guard({"look_up": "retry"}))
    agent = create_agent(model, [pay], middleware=[guarded_tools()])
    receipt = await once("charge", charge, customer, 40)

A call that has returned never runs again, whatever crashes. One that was running when its process
died *may have happened*; its policy says what then:

- ``"ask"`` (the default) interrupts and asks a person, who answers ``{"retry": true}`` or
  ``{"result": ...}``;
- ``"retry"`` makes it again, under the same :func:`idempotency_key`: for calls that bear it;
- a function ``async (key, arguments) -> result | None`` finds out: its result stands for the
  call's, None means that it did not happen.

Outside the durable engine everything here just makes the call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt

from langgraph_durable.errors import DurableError
from langgraph_durable.ledger import Call, current_ledger, has_ledger
from langgraph_durable.serde import decode, encode

if TYPE_CHECKING:
    from langchain.agents.middleware import AgentMiddleware
    from langgraph.prebuilt.tool_node import AsyncToolCallWrapper, ToolCallRequest

__all__ = ["ASK", "RETRY", "guard", "guarded_tools", "idempotency_key", "once"]

T = TypeVar("T")
Reconcile = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
Policy = str | Reconcile

ASK = "ask"
RETRY = "retry"

_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
_serde = JsonPlusSerializer()


def idempotency_key() -> str:
    """The key of the guarded call that runs here, the same however often it is made.

    Send it on: a service that knows idempotency keys then does its work once.
    Raises DurableError outside of a guarded call.
    """
    key = _key.get()
    if key is None:
        raise DurableError("There is no guarded call here.")
    return key


def guard(
    policies: Mapping[str, Policy] | None = None, *, default: Policy = ASK
) -> AsyncToolCallWrapper:
    """For ``ToolNode(tools, awrap_tool_call=...)``. ``policies`` are by tool name."""
    chosen = dict(policies or {})
    for policy in (*chosen.values(), default):
        _check(policy)

    async def wrap(request: ToolCallRequest, execute: Callable[..., Awaitable[Any]]) -> Any:
        called = request.tool_call
        if not has_ledger():
            return await execute(request)
        call = _call(request.runtime.config, called["name"], str(called["id"]), called["args"])
        result = await _guarded(
            call,
            called["args"],
            lambda: execute(request),
            policy=chosen.get(called["name"], default),
            told={"tool": called["name"], "tool_call_id": called["id"]},
        )
        return _answering(result, called["name"], str(called["id"]))

    return wrap


def guarded_tools(
    policies: Mapping[str, Policy] | None = None, *, default: Policy = ASK
) -> AgentMiddleware[Any, Any]:
    """:func:`guard` as middleware for ``langchain.agents.create_agent``; needs ``langchain``."""
    from langchain.agents.middleware import wrap_tool_call

    wrap = guard(policies, default=default)

    @wrap_tool_call(name="GuardedTools")
    async def guarded(request: Any, handler: Any) -> Any:
        return await wrap(request, handler)

    return guarded


async def once(
    name: str, call: Callable[..., Awaitable[T]], *args: Any, policy: Policy = ASK, **kwargs: Any
) -> T:
    """Make a call in a node once and answer its result, also when the node runs again.

    ``name`` is the call's own within its node. The result must be something that a checkpoint can
    hold. Raises what the call raises; then it may be made again.
    """
    _check(policy)
    if not has_ledger():
        return await call(*args, **kwargs)
    arguments = {"args": list(args), **kwargs}
    result: T = await _guarded(
        _call(get_config(), name, "", arguments),
        arguments,
        lambda: call(*args, **kwargs),
        policy=policy,
        told={"call": name},
    )
    return result


async def _guarded(
    call: Call,
    arguments: Mapping[str, Any],
    make: Callable[[], Awaitable[Any]],
    *,
    policy: Policy,
    told: Mapping[str, Any],
) -> Any:
    ledger = current_ledger()
    known = await ledger.known(call)
    key = call.key if known is None else known.key
    if known is not None and known.status == "confirmed":
        if known.key != call.key:
            await ledger.adopt(call, known)
        return _restored(known.result)
    if known is not None and known.status == "pending":
        found = await _found_out(key, arguments, policy, told)
        if found is not None:
            await ledger.begin(call, instead_of=key if key != call.key else None)
            await ledger.confirm(call, _stored(found["result"]))
            return found["result"]
    await ledger.begin(call, instead_of=key if key != call.key else None)
    return await _made(call, key, make)


async def _made(call: Call, key: str, make: Callable[[], Awaitable[Any]]) -> Any:
    """Make the call and write down what came of it."""
    ledger = current_ledger()
    token = _key.set(key)
    try:
        result = await make()
    except GraphBubbleUp:
        await ledger.forget(call)
        raise
    except Exception:
        await ledger.fail(call)
        raise
    finally:
        _key.reset(token)
    if isinstance(result, ToolMessage) and result.status == "error":
        await ledger.fail(call)
    else:
        await ledger.confirm(call, _stored(result))
    return result


async def _found_out(
    key: str, arguments: Mapping[str, Any], policy: Policy, told: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What a call came to that may have happened: ``{"result"}``; None: make it (again)."""
    if callable(policy):
        result = await policy(key, arguments)
        return None if result is None else {"result": result}
    if policy == RETRY:
        return None
    answer = interrupt(
        {
            "type": "unconfirmed_call",
            "question": "The server stopped while this call was made. Has it happened?",
            **told,
            "args": arguments,
            "idempotency_key": key,
            "answers": [{"retry": True}, {"result": "..."}],
        }
    )
    if isinstance(answer, Mapping) and "result" in answer:
        return {"result": answer["result"]}
    return None


def _call(config: RunnableConfig, tool: str, call_id: str, arguments: Any) -> Call:
    """The call's key: stable across recovery, since the place in the graph and the ids are."""
    place = config["configurable"]
    thread = str(place["thread_id"])
    namespace = str(place.get("checkpoint_ns") or "")
    step = str((config.get("metadata") or {}).get("langgraph_step"))
    parts = (thread, namespace, step, tool, call_id)
    return Call(
        key=sha256("\x1f".join(parts).encode()).hexdigest(),
        run_id=current_ledger().run_id,
        checkpoint_thread_id=thread,
        tool=tool,
        arguments=sha256(encode(_sorted(arguments)).encode()).hexdigest(),
    )


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    return [_sorted(item) for item in value] if isinstance(value, (list, tuple)) else value


def _answering(result: Any, tool: str, call_id: str) -> Any:
    """A result as the answer to this call: one of an earlier rotation answered another id."""
    if isinstance(result, ToolMessage):
        return result if result.tool_call_id == call_id else _renamed(result, call_id)
    if isinstance(result, (Command, list)):
        return result
    content = result if isinstance(result, str) else encode(result)
    return ToolMessage(content, name=tool, tool_call_id=call_id)


def _renamed(message: ToolMessage, call_id: str) -> ToolMessage:
    return message.model_copy(update={"tool_call_id": call_id, "id": None})


def _stored(result: Any) -> str:
    kind, data = _serde.dumps_typed(result)
    return encode([kind, data.hex()])


def _restored(text: str | None) -> Any:
    kind, data = decode(text or '["null", ""]')
    return _serde.loads_typed((kind, bytes.fromhex(data)))


def _check(policy: Policy) -> None:
    if policy not in (ASK, RETRY) and not callable(policy):
        raise ValueError(f"a policy is {ASK!r}, {RETRY!r} or a function, not {policy!r}")
