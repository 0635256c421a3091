"""How a request becomes a run: whose conversation it belongs to, and what it answers there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from langchain_core.utils.uuid import uuid7

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import DurableError, RunNotFound, ThreadMoved, ThreadNotFound
from langgraph_durable.model import Run, ThreadStatus
from langgraph_durable.serde import decode, encode

from . import answers, history, ids, interrupts, objects, references, request
from .answers import Answers
from .config import Defaults
from .conversation import Conversation, resolve
from .refusal import Refusal, response_not_found
from .request import Asked


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a turn belongs, and the run it goes on from, unless it just queues up there.

    ``copied``: the thread was made for this turn.
    """

    conversation: Conversation
    follows: str | None = None
    copied: bool = False


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
        asked = replace(asked, items=await references.resolved(self._engine, asked.items))
        given = await answers.read(self._engine, asked.items)
        if made := made or given.repeated(asked.items):
            return made
        try:
            return await self._begin(asked, graph=graph, given=given, headers=headers, key=key)
        except ThreadMoved:  # by a request that came at the same time
            return await self.begin(asked, headers=headers, key=key)

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

    async def _begin(
        self,
        asked: Asked,
        *,
        graph: str,
        given: Answers,
        headers: Mapping[str, str],
        key: str | None,
    ) -> Run:
        run_id = str(uuid7())
        place = await self._place(asked, given, ids.response_id(run_id))
        made: Run | None = None
        if place.conversation.new:
            references.check_whole(asked.items)
        try:
            if interrupts.last_answers(asked.items):
                # The same answer may have come meanwhile; from here on ``follows`` keeps it out.
                given = await answers.read(self._engine, asked.items)
                made = given.repeated(asked.items)
            if made is None:
                wish = request.run_request(
                    asked,
                    run_id=run_id,
                    graph=graph,
                    conversation=place.conversation,
                    thread=await self._held(place.conversation, given),
                    defaults=self._defaults,
                    idempotency_key=key,
                )
                allowed = self._engine.allowed_headers(headers)
                wish = replace(wish, headers=allowed, follows=place.follows)
                made = await self._engine.submit(wish)
            return made
        finally:
            if place.copied and (made is None or made.thread_id != place.conversation.id):
                await self._discard(place.conversation.id)

    # -- whose conversation ------------------------------------------------------------------

    async def _place(self, asked: Asked, given: Answers, response_id: str) -> _Place:
        previous = asked.body.get("previous_response_id")
        # Resolved before it is looked up: a contradiction is told whether or not it exists.
        found = resolve(asked.body, response_id=response_id, previous=previous)
        if found.source == "previous_response_id":
            run = await self._previous(found.id)
            thread_id = await self._engine.thread_behind(run)
            found = resolve(asked.body, response_id=response_id, previous=thread_id)
            return _Place(found, run.run_id, copied=thread_id != run.thread_id)
        if found.source != "conversation":
            found = resolve(asked.body, response_id=response_id, asking=given.asking)
        answering = not found.new and interrupts.last_answers(asked.items)
        return _Place(found, await self._latest(found.id) if answering else None)

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

    async def _latest(self, thread_id: str) -> str | None:
        try:
            latest = await self._engine.runs(thread_id, limit=1)
        except ThreadNotFound:
            return None
        return latest[0].run_id if latest else None

    async def _held(self, conversation: Conversation, given: Answers) -> history.Held:
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
            settled=given.settled,
            busy=thread.status is ThreadStatus.BUSY,
            items=await self._engine.items_by_hand(thread.thread_id),
        )

    async def _discard(self, thread_id: str) -> None:
        """Delete a copy that no run has come to use."""
        with suppress(DurableError):
            if not await self._engine.runs(thread_id, limit=1):
                await self._engine.delete_thread(thread_id)
