"""A response on its way out: the stream of a run's frames, and its Response once it has ended."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Collection

from langgraph_durable.engine import DurableEngine
from langgraph_durable.errors import StoreUnavailable
from langgraph_durable.model import Run
from langgraph_durable.serde import encode
from protocol_adapter import sse

from . import ids
from .objects import head_of, is_stored, traced
from .refusal import unavailable
from .stream import Fold, Frame

_DONE = b"data: [DONE]\n\n"

log = logging.getLogger(__name__)


async def stream(
    engine: DurableEngine,
    run: Run,
    *,
    after: int = -1,
    hidden: Collection[str] = (),
    trace: str | None = None,
) -> AsyncGenerator[bytes, None]:
    """Every frame whose ``sequence_number`` is above ``after``, as bytes, then ``[DONE]``.

    Frames of ``hidden`` types are left out, their numbers stay unused. ``trace`` is named in every
    Response, in MLflow's dialect also in a frame of its own, without a number. The stream just
    stops, without ``[DONE]``, when the server goes down: the client comes back with its cursor.
    """
    head = head_of(run)
    fold = Fold(head)
    try:
        async for frames in _told(engine, run, fold):
            if fold.terminal is not None:
                await _keep(engine, run, fold)
            told = [f for f in frames if f["sequence_number"] > after and f["type"] not in hidden]
            if told:
                yield b"".join(_wire(_traced(frame, trace)) for frame in told)
    except StoreUnavailable:
        log.warning("stream of %s cut: the database cannot be reached", run.run_id)
        return
    if fold.terminal is not None:
        if trace is not None and head.dialect == "mlflow":
            yield f"data: {encode({'trace_id': trace})}\n\n".encode()
        yield _DONE


def _traced(frame: Frame, trace: str | None) -> Frame:
    if trace is None or "response" not in frame:
        return frame
    return {**frame, "response": traced(frame["response"], trace)}


async def terminal(engine: DurableEngine, run: Run) -> str:
    """The JSON text of an ended run's Response: folded once, stored, and the same ever after."""
    name = ids.response_id(run.run_id)
    stored = await engine.stored_response(name)
    if stored is not None:
        return stored
    fold = Fold(head_of(run))
    async for _ in _told(engine, run, fold):
        pass
    if fold.terminal is None:
        raise unavailable("The server is going down.")
    return await _keep(engine, run, fold)


async def _keep(engine: DurableEngine, run: Run, fold: Fold) -> str:
    """The stored Response of an ended run, stored now unless it was: before a client has seen its
    end, for the next request may name what it shows."""
    name = ids.response_id(run.run_id)
    return await engine.stored_response(name) or await engine.save_response(
        name,
        run_id=run.run_id,
        terminal=encode(fold.terminal),
        item_ids=fold.item_ids if is_stored(run) else (),
    )


async def keep(engine: DurableEngine, run: Run) -> None:
    """Store the Response of an ended run of this door, before its log goes."""
    if run.request.get("door") == "responses":
        await terminal(engine, run)


async def _told(engine: DurableEngine, run: Run, fold: Fold) -> AsyncGenerator[list[Frame], None]:
    async for events in engine.batches(run.run_id):
        ended = await engine.run(run.run_id) if events[-1].mode == "end" else None
        yield [frame for event in events for frame in fold.feed(event, ended)]


def _wire(frame: Frame) -> bytes:
    return sse.frame(frame["type"], encode(frame), eol="\n")
