"""A person's answer is bound to the questions that are open when it is given.

A plain value outlives its question in LangGraph: bound later, a double click would approve a
question nobody read. So every answer is stored as a map from question id to value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

UNKNOWN = "UnknownInterruptError"
"""LangGraph's name for an answer to a question that does not wait for one."""

_QUESTION_ID = re.compile(r"[0-9a-f]{32}")


def bind(
    resume: Any, questions: Sequence[Mapping[str, Any]], *, strict: bool = False
) -> dict[str, Any]:
    """``{"answers": {question id: value}}``, or ``{"refused": {"error", "message"}}``.

    ``questions`` are the thread's open ones. A refused answer ends its run without
    calling the graph: the questions stay as they were. ``strict`` also refuses an answer to
    nothing: here an empty map, the rest in :func:`unknown` when the run begins.
    """
    if strict and isinstance(resume, Mapping) and not resume:
        return _refused(UNKNOWN, "The answer names no question.")
    asked = {q["id"]: q.get("value") for q in questions}
    if is_map(resume):
        answers = dict(resume)
    elif len(asked) > 1:
        return _refused(
            UNKNOWN if strict else "RuntimeError",
            "When there are multiple pending interrupts, you must specify the interrupt id when"
            " resuming.",
        )
    else:
        answers = dict.fromkeys(asked, resume)
    for question_id, answer in answers.items():
        if problem := decision_problem(asked.get(question_id), answer):
            return _refused("ValueError", problem)
    return {"answers": answers}


def unknown(answers: Collection[str], asked: Collection[str]) -> dict[str, str] | None:
    """The error of a strict run that answers what is not asked when it begins; else None."""
    for question_id in sorted(set(answers) - set(asked)):
        return {
            "error": UNKNOWN,
            "message": f"Unknown or already answered interrupt: {question_id}",
        }
    return None


def is_map(resume: Any) -> bool:
    """Does the answer name its questions?"""
    return (
        isinstance(resume, Mapping)
        and bool(resume)
        and all(isinstance(k, str) and _QUESTION_ID.fullmatch(k) for k in resume)
    )


def decision_problem(question: Any, answer: Any) -> str | None:
    """Why an answer does not fit a human-in-the-loop question of LangChain; None when it does.

    Such a question lists ``action_requests`` and ``review_configs``; its answer is
    ``{"decisions": [{"type"}, ...]}``, one per action, of a type its config allows.
    """
    if not (isinstance(question, Mapping) and "action_requests" in question):
        return None
    actions = [a for a in question["action_requests"] or () if isinstance(a, Mapping)]
    decisions = answer.get("decisions") if isinstance(answer, Mapping) else None
    if not isinstance(decisions, list):
        return "The answer must be an object with a list of decisions."
    if len(decisions) != len(actions):
        return f"{len(actions)} decisions are needed, {len(decisions)} were given."
    allowed = {
        c.get("action_name"): c.get("allowed_decisions")
        for c in question.get("review_configs") or ()
        if isinstance(c, Mapping)
    }
    for action, decision in zip(actions, decisions, strict=True):
        kinds = allowed.get(action.get("name"))
        kind = decision.get("type") if isinstance(decision, Mapping) else None
        if kind is None or (kinds and kind not in kinds):
            return f"{kind!r} is not allowed for {action.get('name')}; allowed: {kinds}."
    return None


def _refused(error: str, message: str) -> dict[str, Any]:
    return {"refused": {"error": error, "message": message}}
