"""Logs nobody would write by hand: parallel messages, crashes and odd orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from .logs import Log, ai, call, call_chunk, tool

NAMES = ("m1", "m2", "m3")
CALLS = ("c1", "c2")

Step = tuple[str, tuple[Any, ...]]

names = st.sampled_from(NAMES)
call_ids = st.sampled_from(CALLS)
words = st.sampled_from(["a", "bc", "\u2028é\n", " "])

steps: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("says"), st.tuples(names, words, st.booleans())),
    st.tuples(st.just("calls"), st.tuples(names, call_ids, st.booleans())),
    st.tuples(st.just("whole"), st.tuples(names, call_ids)),
    st.tuples(st.just("returns"), st.tuples(names)),
    st.tuples(st.just("result"), st.tuples(call_ids, st.booleans())),
    st.tuples(
        st.just("recovered"),
        st.tuples(
            st.sampled_from(["agent_session", "event_log"]),
            st.sampled_from(["crash", "deploy"]),
            st.lists(call_ids, unique=True),
            st.lists(names, unique=True),
            st.booleans(),
        ),
    ),
    st.tuples(st.just("asked"), st.tuples(st.sampled_from("01"))),
)
endings = st.sampled_from(["success", "error", "timeout", "interrupted"])


@st.composite
def logs(draw: st.DrawFn, ending: st.SearchStrategy[str] = endings) -> Log:
    log = Log().start()
    for kind, details in draw(st.lists(steps, max_size=25)):
        _ADD[kind](log, *details)
    return log.end(draw(ending))


def _says(log: Log, name: str, word: str, last: bool) -> None:
    log.says(name, word, at=f"node:t_{name}", last=last)


def _calls(log: Log, name: str, call_id: str, last: bool) -> None:
    piece = call_chunk(name, "{}", call_id=call_id, tool="add", last=last)
    log.message(piece, at=f"node:t_{name}")


def _whole(log: Log, name: str, call_id: str) -> None:
    log.message(ai(name, "abc", tool_calls=[call(call_id)]), at=f"node:t_{name}")


def _returns(log: Log, name: str) -> None:
    log.updates("node", ai(name, "abcabc"), task=f"t_{name}")


def _result(log: Log, call_id: str, failed: bool) -> None:
    log.message(tool(call_id, "3", status="error" if failed else "success"), at="tools:t9")


def _recovered(
    log: Log, strategy: str, reason: str, keep: list[str], held: list[str], woken: bool
) -> None:
    log.recovered(
        log.attempt + 1,
        strategy=strategy,
        reason=reason,
        open_tool_call_ids=keep,
        values={"messages": [ai(name) for name in held]},
        **({"woken": True} if woken else {}),
    )


def _asked(log: Log, question: str) -> None:
    log.add("asked", {"interrupts": [{"id": question * 32, "value": "ok?"}]})


_ADD: dict[str, Callable[..., None]] = {
    "says": _says,
    "calls": _calls,
    "whole": _whole,
    "returns": _returns,
    "result": _result,
    "recovered": _recovered,
    "asked": _asked,
}
