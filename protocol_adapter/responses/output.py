"""The items announced so far and the frames that tell about them.

Every item gets the next ``output_index`` when it is announced, keeps it, and is closed exactly
once: clients keep their own list by these indexes and refuse a stream that breaks the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from . import ids
from .items import COMPLETED, INCOMPLETE, Call, Item, Speech, Spoken

Emit = Callable[..., None]
"""``emit(type, **fields)`` appends one frame; numbering is the caller's business."""


class Output:
    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._items: list[Item] = []
        self._ids: set[str] = set()

    def announced(self) -> list[dict[str, Any]]:
        """Every item, void ones too: what a client that follows the stream has seen."""
        return [item.shape() for item in self._items]

    def final(self) -> list[dict[str, Any]]:
        """The items that count in the end."""
        return [item.shape() for item in self._items if not item.void]

    def void(self, *, but: Collection[Item] = ()) -> None:
        """Nothing announced so far counts any more, ``but`` for these."""
        for item in self._items:
            item.void = item.void or item not in but

    def reserve(self, item_id: str) -> None:
        """An earlier response has an item of this name: the next one is called ``~2``."""
        self._ids.add(item_id)

    # -- text -------------------------------------------------------------------------------

    def speak(self, name: str, speech: Speech) -> Spoken:
        """Opens a text item named after its message."""
        spoken = Spoken(item_id=self._name(name, speech.prefix), speech=speech)
        self._announce(spoken)
        spoken.begun = True
        self._emit(speech.part_added, **_place(spoken), part=speech.part(""))
        return spoken

    def say(self, spoken: Spoken, delta: str) -> None:
        spoken.pieces.append(delta)
        speech = spoken.speech
        self._emit(speech.delta, **_place(spoken), delta=delta, **speech.event_extra)

    def annotate(self, spoken: Spoken, annotation: Mapping[str, Any]) -> None:
        """Adds what a text refers to, once."""
        if not spoken.open or annotation in spoken.annotations:
            return
        spoken.annotations.append(annotation)
        self._emit(
            "response.output_text.annotation.added",
            **_place(spoken),
            annotation_index=len(spoken.annotations) - 1,
            annotation=annotation,
        )

    def fall_silent(self, spoken: Spoken, status: str = COMPLETED) -> None:
        """Closes a text item; one already closed stays as it is."""
        if not spoken.open:
            return
        speech, place, text = spoken.speech, _place(spoken), spoken.text
        self._emit(speech.done, **place, **{speech.text_key: text}, **speech.event_extra)
        self._emit(speech.part_done, **place, part=spoken.part)
        self._close(spoken, status)

    # -- tool calls -------------------------------------------------------------------------

    def call(self, call_id: str, name: str, *, mcp: bool) -> Call:
        """Opens a tool call's item, its arguments still empty.

        A call id seen before gets a new name on the wire: stream helpers take two
        ``function_call`` items with one ``call_id`` for a contradiction.
        """
        prefix = ids.MCP_CALL if mcp else "fc_"
        item_id = self._name(call_id, prefix)
        call = Call(item_id=item_id, call_id=item_id.removeprefix(prefix), name=name, mcp=mcp)
        self._announce(call)
        if mcp:
            self._emit("response.mcp_call.in_progress", **_whereabouts(call))
        return call

    def argue(self, call: Call, delta: str) -> None:
        if call.settled or not call.open:
            return
        call.arguments += delta
        self._emit(_arguments(call, "delta"), **_whereabouts(call), delta=delta)

    def settle(self, call: Call) -> None:
        """The arguments are whole: closes a ``function_call``; an ``mcp_call`` now runs."""
        if call.settled or not call.open:
            return
        self._argued(call)
        if not call.mcp:
            self._close(call, COMPLETED)

    def answer(self, call: Call, output: str, *, failed: bool) -> None:
        """The result of an ``mcp_call``, which closes it."""
        if not call.open:
            return
        call.output = None if failed else output
        call.error = output if failed else None
        ending = "failed" if failed else "completed"
        self._emit(f"response.mcp_call.{ending}", **_whereabouts(call))
        self._close(call, ending)

    def abandon(self, call: Call) -> None:
        """Closes a call that will have no result here."""
        if not call.open:
            return
        if not call.settled:
            self._argued(call)
        self._close(call, INCOMPLETE)

    def _argued(self, call: Call) -> None:
        call.settled = True
        named = {} if call.mcp else {"name": call.name}
        done = _arguments(call, "done")
        self._emit(done, **_whereabouts(call), **named, arguments=call.arguments)

    # -- the rest ---------------------------------------------------------------------------

    def tell(self, item: Item) -> None:
        """Announces an item that is complete from the start."""
        item.item_id = self._name(item.item_id)
        self._announce(item)
        self._close(item, item.status)

    def _name(self, name: str, prefix: str = "") -> str:
        return prefix + ids.again(name, self._ids, prefix)

    def _announce(self, item: Item) -> None:
        item.index = len(self._items)
        self._items.append(item)
        self._ids.add(item.item_id)
        added = "response.output_item.added"
        self._emit(added, output_index=item.index, item=item.shape())

    def _close(self, item: Item, status: str) -> None:
        item.status = status
        done = "response.output_item.done"
        self._emit(done, output_index=item.index, item=item.shape())


def _whereabouts(item: Item) -> dict[str, Any]:
    return {"item_id": item.item_id, "output_index": item.index}


def _place(spoken: Spoken) -> dict[str, Any]:
    return {**_whereabouts(spoken), spoken.speech.index: 0}


def _arguments(call: Call, step: str) -> str:
    kind = "mcp_call_arguments" if call.mcp else "function_call_arguments"
    return f"response.{kind}.{step}"
