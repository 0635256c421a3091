"""A body as a :class:`RunRequest`: every known key acts or is refused. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from langgraph_durable.model import RunRequest
from protocol_adapter.envelope import Refusal

from . import ids

_ANSWERS = ("resume", "decisions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A checked body. ``graph`` None: the only one served, or the session's own."""

    id: str
    session_id: str
    graph: str | None
    input: Any
    background: bool
    stream: bool

    @property
    def answer(self) -> Any:
        """The answer to the session's open question that ``input`` is; None when it is none."""
        key = next(iter(self.input), None) if isinstance(self.input, dict) else None
        if key not in _ANSWERS or len(self.input) > 1:
            return None
        return self.input if key == "decisions" else self.input[key]

    @property
    def fingerprint(self) -> str:
        """The same for the same request, however its result is to be delivered."""
        said = [self.session_id, self.graph, self.input]
        return sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read(body: Any, *, default_id: str) -> Asked:
    """Checks a decoded body; raises :class:`Refusal` naming the first key that does not do.

    ``default_id`` names an invocation whose client does not, and a session without a name is
    named after its first invocation.
    """
    if not isinstance(body, dict):
        raise Refusal("The body must be a JSON object.")
    given = {key: value for key, value in body.items() if value is not None}
    if "input" not in given:
        raise _unfit("'input' is required.", "input", code="missing_required_parameter")
    if given["input"] == {"resume": None}:
        raise _unfit("'resume' must not be null: null is no answer.", "input")
    name = _name(given, "id") or default_id
    return Asked(
        id=name,
        session_id=_name(given, "session_id") or name,
        graph=_graph(given),
        input=given["input"],
        background=_flag(given, "background", default=True),
        stream=_flag(given, "stream", default=False),
    )


def run_request(asked: Asked, *, graph: str) -> RunRequest:
    """What the engine is asked for."""
    answer = asked.answer
    return RunRequest(
        assistant=graph,
        thread_id=asked.session_id,
        run_id=ids.run_id(asked.id),
        input=asked.input if answer is None else None,
        command=None if answer is None else {"resume": answer},
        stream_modes=("messages-tuple", "updates", "custom"),
        stream_subgraphs=True,
        if_not_exists="create",
        keep_thread=True,
        idempotency_key=f"invocation {asked.id}",
        request_hash=asked.fingerprint,
        door="invocations",
        door_data={"invocation": asked.id},
    )


def choose(named: str | None, own: str | None, served: Sequence[str]) -> str:
    """The graph to run: the one ``named``, the only one, or the session's ``own``."""
    found = named or (served[0] if len(served) == 1 else own)
    if found is None:
        names = ", ".join(served)
        raise _unfit(f"'graph' must be one of {names}.", "graph", code="missing_required_parameter")
    return found


def _graph(given: Mapping[str, Any]) -> str | None:
    named = {key: given[key] for key in ("graph", "agent") if key in given}
    for key, value in named.items():
        if not isinstance(value, str) or not value:
            raise _unfit(f"'{key}' must be the name of a graph.", key)
    if len(set(named.values())) > 1:
        raise _unfit("'graph' and 'agent' name different graphs: send one of them.", "agent")
    return next(iter(named.values()), None)


def _name(given: Mapping[str, Any], key: str) -> str | None:
    value = given.get(key)
    if value is not None and not (isinstance(value, str) and ids.is_name(value)):
        raise _unfit(f"'{key}' must be 1 to {ids.LONGEST} printable characters without '/'.", key)
    return value


def _flag(given: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = given.get(key, default)
    if not isinstance(value, bool):
        raise _unfit(f"'{key}' must be true or false.", key)
    return value


def _unfit(message: str, param: str, *, code: str = "invalid_value") -> Refusal:
    return Refusal(message, status=422, param=param, code=code)
