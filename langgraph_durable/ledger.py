"""The ledger of one attempt: which guarded calls were made, and what came of them.

A call is written down before it is made and again when its result is known, both under the
attempt's fence. So a confirmed call is never made again, and one that was pending when its process
died "may have happened".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

from psycopg_pool import AsyncConnectionPool

from langgraph_durable.errors import DurableError
from langgraph_durable.eventlog.change import Change, RunLog, Statement, until_durable
from langgraph_durable.postgres import reading
from langgraph_durable.store import tool_calls
from langgraph_durable.store.tool_calls import Known


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One guarded call. ``arguments`` are a hash of what it is made with."""

    key: str
    run_id: str
    checkpoint_thread_id: str
    tool: str
    arguments: str


class Ledger:
    """Reads with ``pool``, writes with the attempt's ``log``."""

    def __init__(self, log: RunLog, pool: AsyncConnectionPool[Any]) -> None:
        self.run_id = log.run_id
        self._log = log
        self._pool = pool

    async def known(self, call: Call) -> Known | None:
        """What is known of a call before it is made."""
        async with reading(self._pool) as conn:
            return await tool_calls.known(conn, asdict(call))

    async def begin(self, call: Call, *, instead_of: str | None = None) -> None:
        """Write down that a call is about to be made, in place of one of an earlier rotation."""
        used = [tool_calls.use(instead_of, call.key)] if instead_of else []
        await self._write(tool_calls.begin(asdict(call), self._log.attempt), *used)

    async def adopt(self, call: Call, known: Known) -> None:
        """Let the confirmed call of an earlier rotation stand for this one."""
        await self._write(
            tool_calls.begin(asdict(call), self._log.attempt),
            tool_calls.settle(call.key, "confirmed", known.result),
            tool_calls.use(known.key, call.key),
        )

    async def confirm(self, call: Call, result: str) -> None:
        """Write down a call's result: it is never made again."""
        await self._write(tool_calls.settle(call.key, "confirmed", result))

    async def fail(self, call: Call) -> None:
        """The call raised: it may be made again."""
        await self._write(tool_calls.settle(call.key, "failed"))

    async def forget(self, call: Call) -> None:
        """The call stopped to ask a person: it has yet to be made."""
        await self._write(tool_calls.forget(call.key))

    async def _write(self, *statements: Statement) -> None:
        change = Change(log=self._log, statements=list(statements), urgent=True)
        await until_durable(self._log.put(change))


_current: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextmanager
def ledger_in_use(ledger: Ledger) -> Iterator[None]:
    """Everything that is started inside finds this ledger."""
    token = _current.set(ledger)
    try:
        yield
    finally:
        _current.reset(token)


def current_ledger() -> Ledger:
    """The ledger of the attempt that runs here. Raises DurableError outside of one."""
    ledger = _current.get()
    if ledger is None:
        raise DurableError("Guarded calls need the durable engine: no attempt runs here.")
    return ledger


def has_ledger() -> bool:
    """Does an attempt of the durable engine run here?"""
    return _current.get() is not None
