"""The ledger of guarded calls: read here, written by the attempt that makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg import AsyncConnection

from langgraph_durable.postgres import Row
from langgraph_durable.sql import statements

_SQL = statements("tool_calls")

Statement = tuple[LiteralString, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the ledger says of a call: ``pending``, ``confirmed`` or ``failed``.

    ``key`` differs from the asked one when a call of an earlier rotation stands for it.
    """

    key: str
    attempt: int
    status: str
    result: str | None


async def known(conn: AsyncConnection[Row], call: Mapping[str, Any]) -> Known | None:
    """The row of a call: key, run_id, checkpoint_thread_id, tool and arguments name it."""
    row = await (await conn.execute(_SQL["known"], dict(call))).fetchone()
    return Known(**row) if row else None


def begin(call: Mapping[str, Any], attempt: int) -> Statement:
    """The call is about to be made."""
    return _SQL["begin"], {**call, "attempt": attempt}


def settle(key: str, status: str, result: str | None = None) -> Statement:
    """The call has ended: ``confirmed`` with its result, or ``failed``."""
    return _SQL["settle"], {"key": key, "status": status, "result": result}


def forget(key: str) -> Statement:
    """The call did not happen."""
    return _SQL["forget"], {"key": key}


def use(earlier: str, key: str) -> Statement:
    """A call of an earlier rotation stands for this one."""
    return _SQL["use"], {"earlier": earlier, "key": key}
