"""Crons whose date has come become runs: claimed, submitted and moved on in one transaction.

A crash between is therefore impossible, and of many processes only one fires.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import Any

from langchain_core.utils.uuid import uuid7
from psycopg import AsyncConnection

from langgraph_durable import submission
from langgraph_durable.crons import next_date
from langgraph_durable.errors import DurableError, InvalidSchedule, StoreUnavailable
from langgraph_durable.model import Cron, RunRequest
from langgraph_durable.postgres import UNAVAILABLE, Row
from langgraph_durable.project import Project
from langgraph_durable.request import restored
from langgraph_durable.settings import Settings
from langgraph_durable.store import assistants, crons

_log = logging.getLogger(__name__)


class Firing:
    """Fires the crons of the graphs that are served here."""

    def __init__(self, project: Project, settings: Settings) -> None:
        self._project = project
        self._settings = settings

    async def fire(self, conn: AsyncConnection[Row]) -> int:
        """Fire what is due, once however many dates were missed; answers how many were due."""
        due = await crons.due(conn, list(self._project.graphs))
        for cron, now in due:
            if cron.end_time is None or now <= cron.end_time:
                await self._fire(conn, cron)
            await crons.move(conn, cron.cron_id, _following(cron, now))
        return len(due)

    async def _fire(self, conn: AsyncConnection[Row], cron: Cron) -> None:
        """What cannot be submitted is passed over: other crons do not wait for it."""
        try:
            async with conn.transaction():
                await self._submit(conn, cron)
        except (StoreUnavailable, *UNAVAILABLE):
            raise
        except DurableError as error:
            _log.warning("cron %s is passed over this time: %s", cron.cron_id, error)
        except Exception:
            _log.exception("cron %s is passed over this time", cron.cron_id)

    async def _submit(self, conn: AsyncConnection[Row], cron: Cron) -> None:
        served = list(self._project.graphs)
        assistant = await assistants.get(conn, cron.assistant_id, served)
        run_id = str(uuid7())
        admission = submission.Admission(
            run_id=run_id,
            assistant=assistant,
            strategy=self._project.graphs[assistant.graph_id].strategy(self._settings),
            tracing=self._settings.tracing,
        )
        await submission.submit(conn, request_of(cron), admission, ttl=self._project.threads.ttl)
        _log.info("cron %s: run %s", cron.cron_id, run_id)


def request_of(cron: Cron) -> RunRequest:
    """What a cron submits: its client's request, which tells the graph and the run whose it is."""
    asked = restored(cron.request)
    own: dict[str, Any] = {"cron_id": cron.cron_id}
    return replace(
        asked,
        assistant=cron.assistant_id,
        thread_id=cron.thread_id,
        config={
            **asked.config,
            "configurable": {**(asked.config.get("configurable") or {}), **own},
        },
        metadata={**asked.metadata, **own},
    )


def _following(cron: Cron, now: datetime) -> datetime | None:
    try:
        return next_date(cron.schedule, cron.timezone, now, cron.end_time)
    except InvalidSchedule as error:
        _log.error("cron %s fires no more: %s", cron.cron_id, error)
        return None
