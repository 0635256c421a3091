"""How a request becomes a run: whose conversation it belongs to, and what it answers there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.utils.uuid import uuid7

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import RunNotFound, ThreadNotFound
from langgraph_durable.model import Run, ThreadStatus
from langgraph_durable.serde import decode, encode

from . import history, ids, interrupts, objects, request
from .config import Defaults
from .conversation import Conversation, resolve
from .ids import Question
from .refusal import Refusal, response_not_found
from .request import Asked

Item = Mapping[str, Any]


class Turns:
    """Begins the runs of this door and finds them again."""

    def __init__(self, engine: DurableEngine, defaults: Defaults) -> None:
        self._engine = engine
        self._defaults = defaults

    async def begin(
        self, asked: Asked, *, headers: Mapping[str, str], key: str | None = None
    ) -> Run:
        """The run of a request: a new one, unless it has been made already.

        ``headers`` are the request's, ``key`` is its ``Idempotency-Key``. Raises Refusal and what
        the engine raises.
        """
        graph = request.graph_of(asked.body.get("model"), self._engine.graph_ids)
        made = await self._engine.made_before(key, asked.digest) if key else None
        made = made or await self._answered_before(asked)
        if made is not None:
            return made
        run_id = str(uuid7())
        conversation = await self._conversation(asked, ids.response_id(run_id))
        wish = request.run_request(
            asked,
            run_id=run_id,
            graph=graph,
            conversation=conversation,
            thread=await self._held(conversation),
            defaults=self._defaults,
            idempotency_key=key,
        )
        allowed = self._engine.allowed_headers(headers)
        return await self._engine.submit(replace(wish, headers=allowed))

    async def run(self, response_id: str) -> Run:
        """The run of a response that may be asked for. Raises Refusal (404)."""
        run_id = ids.run_id(response_id)
        if run_id is None or await self._engine.response_deleted(run_id):
            raise response_not_found(response_id)
        try:
            run = await self._engine.run(run_id)
        except RunNotFound:
            raise response_not_found(response_id) from None
        if not objects.is_stored(run):
            raise response_not_found(response_id)
        return run

    # -- whose conversation ------------------------------------------------------------------

    async def _conversation(self, asked: Asked, response_id: str) -> Conversation:
        previous = asked.body.get("previous_response_id")
        # Resolved before it is looked up: a contradiction is told whether or not it exists.
        found = resolve(asked.body, response_id=response_id, previous=previous)
        if found.source == "previous_response_id":
            previous = await self._engine.thread_behind(await self._previous(found.id))
            return resolve(asked.body, response_id=response_id, previous=previous)
        if found.source == "conversation":
            return found
        asking = await self._asking(asked.items)
        return resolve(asked.body, response_id=response_id, asking=asking)

    async def _previous(self, response_id: str) -> Run:
        try:
            return await self.run(response_id)
        except Refusal:
            raise Refusal(
                f"Previous response with id '{response_id}' not found.",
                status=404,
                param="previous_response_id",
                code="previous_response_not_found",
            ) from None

    async def _asking(self, items: Sequence[Item]) -> str | None:
        """The thread that waits for an answer in ``items``, whose names tell who asked."""
        for item in reversed(items):
            question = interrupts.question_of(item)
            run = await self._asked_by(question)
            if question is None or run is None:
                continue
            if await self._asks(run, question):
                return run.thread_id
        return None

    async def _asked_by(self, question: Question | None) -> Run | None:
        if question is None or question.run_id is None:
            return None
        try:
            return await self._engine.run(question.run_id)
        except RunNotFound:
            return None

    async def _held(self, conversation: Conversation) -> history.Held:
        if conversation.new:
            return history.NOTHING
        try:
            thread = await self._engine.thread(conversation.id)
        except ThreadNotFound:
            return history.NOTHING
        state = await self._engine.state(conversation.id)
        values = state.values if state is not None and isinstance(state.values, dict) else {}
        asked = (question for each in thread.interrupts.values() for question in each)
        return history.held(
            decode(encode(values.get("messages"))),
            {question["id"]: question.get("value") for question in asked},
            busy=thread.status is ThreadStatus.BUSY,
            items=await self._engine.items_by_hand(thread.thread_id),
        )

    # -- answers that come again -------------------------------------------------------------

    async def _answered_before(self, asked: Asked) -> Run | None:
        """The run that the answers at the end of a request have started before.

        Clients repeat requests: an approval that comes twice must not do its work twice.
        Raises Refusal when the answer was another one then.
        """
        for item in interrupts.last_answers(asked.items):
            question = interrupts.question_of(item)
            asker = await self._asked_by(question)
            if question is None or asker is None or await self._asks(asker, question):
                continue
            for run in await self._engine.runs(asker.thread_id, limit=1000):
                given = (run.request.get("command") or {}).get("resume") or {}
                if isinstance(given, dict) and question.interrupt_id in given:
                    _check_same(item, question, given[question.interrupt_id])
                    return run
        return None

    async def _asks(self, asker: Run, question: Question) -> bool:
        thread = await self._engine.thread(asker.thread_id)
        asked = (q["id"] for each in thread.interrupts.values() for q in each)
        return question.interrupt_id in asked


def _check_same(item: Item, question: Question, given: Any) -> None:
    """Raises Refusal unless ``item`` gives the answer that was ``given`` before."""
    decisions = given.get("decisions") if isinstance(given, dict) else None
    listed: Any = None
    if isinstance(decisions, list):
        if question.action is not None:
            decisions = decisions[question.action : question.action + 1]
        given, listed = {"decisions": decisions}, {"action_requests": [{} for _ in decisions]}
    if interrupts.resumed(interrupts.answer_of(item, listed)) != given:
        raise Refusal(
            "This question was answered before, in another way.",
            param="input",
            code="interrupt_already_resolved",
        )
