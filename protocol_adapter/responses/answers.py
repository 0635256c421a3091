"""Answers that come again: clients repeat requests, and send their whole history each time.

A question's name tells which run asked it. It is settled once a later run of that thread has
answered it, even one that still waits: an approval that comes twice must not do its work twice.
An answer whose run failed was taken back, so that the question may be answered anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotFound
from langgraph_durable.model import Run

from . import interrupts
from .ids import Question
from .refusal import Refusal

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settled:
    """The run that answered a question, and what it was given."""

    run: Run
    given: Any


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers in a request to questions whose names tell who asked, oldest first.

    ``settled`` are those to questions that have been answered, by name; ``asking`` is the thread
    that waits for the last of the others.
    """

    settled: Mapping[str, Settled]
    asking: str | None

    def repeated(self, items: Sequence[Item]) -> Run | None:
        """The run that ``items`` have made before: they end with nothing but settled answers.

        Raises Refusal when one of them was another one then.
        """
        last = interrupts.last_answers(items)
        known = [self.settled.get(interrupts.name_in(item)) for item in last]
        found = [settled for settled in known if settled is not None]
        if not last or len(found) < len(last):
            return None
        for item, settled in zip(last, found, strict=True):
            _check_same(item, settled.given)
        return found[-1].run


async def read(engine: DurableEngine, items: Sequence[Item]) -> Answers:
    """The answers among ``items``, as the engine's runs and threads have them now."""
    settled: dict[str, Settled] = {}
    asking: str | None = None
    for item in items:
        question = interrupts.question_of(item)
        asker = await _asker(engine, question)
        if question is None or asker is None:
            continue
        answered = await engine.answer_to(asker, question.interrupt_id)
        if answered is not None:
            settled[interrupts.name_in(item)] = Settled(*answered)
        elif await _asks(engine, asker, question):
            asking = asker.thread_id
    return Answers(settled, asking)


async def _asker(engine: DurableEngine, question: Question | None) -> Run | None:
    if question is None or question.run_id is None:
        return None
    try:
        return await engine.run(question.run_id)
    except RunNotFound:
        return None


async def _asks(engine: DurableEngine, asker: Run, question: Question) -> bool:
    thread = await engine.thread(asker.thread_id)
    return question.interrupt_id in {q["id"] for each in thread.interrupts.values() for q in each}


def _check_same(item: Item, given: Any) -> None:
    """Raises Refusal unless ``item`` gives the answer that was ``given`` before."""
    question = interrupts.question_of(item)
    decisions = given.get("decisions") if isinstance(given, dict) else None
    listed: Any = None
    if isinstance(decisions, list):
        if question is not None and question.action is not None:
            decisions = decisions[question.action : question.action + 1]
        given, listed = {"decisions": decisions}, {"action_requests": [{} for _ in decisions]}
    if interrupts.resumed(interrupts.answer_of(item, question, listed)) != given:
        raise Refusal(
            "This question was answered before, in another way.",
            param="input",
            code="interrupt_already_resolved",
        )
