"""The engine as a library: a run from nothing but its input, and its events one by one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from langgraph_durable.engine.runs import Runs
from langgraph_durable.errors import InvalidRequest
from langgraph_durable.model import BEGINNING, Cursor, Event, Run, RunRequest


class Direct(Runs):
    """What a program asks that has the engine in its own process."""

    async def submit(self, request: Any = None, **wishes: Any) -> Run:
        """Make a run durable, of a :class:`RunRequest` or of an input and whatever else of it.

        ``submit({"messages": [...]}, thread_id="support-7")`` runs the only graph there is, or the
        one called ``assistant``, on a thread that is made when it is not there.

        Raises InvalidRequest when it does not say which of several graphs to run, and whatever
        :meth:`Runs.submit` does.
        """
        if isinstance(request, RunRequest):
            return await super().submit(request)
        if request is not None:
            wishes["input"] = request
        wishes.setdefault("assistant", self._only_graph)
        if wishes["assistant"] is None:
            names = ", ".join(self.project.graphs)
            raise InvalidRequest(f"assistant=... must say which graph to run: {names}")
        return await super().submit(RunRequest(**{"if_not_exists": "create", **wishes}))

    async def follow(
        self, run: Run | str, after: Cursor = BEGINNING
    ) -> AsyncGenerator[Event, None]:
        """Committed events behind ``after``, until the run's ``end``; ``run`` may be its id.

        Ends early when this process drains.
        """
        run_id = run if isinstance(run, str) else run.run_id
        async with aclosing(self.batches(run_id, after)) as batches:
            async for batch in batches:
                for event in batch:
                    yield event

    @property
    def _only_graph(self) -> str | None:
        return next(iter(self.project.graphs)) if len(self.project.graphs) == 1 else None
