"""Where it all happens: one PostgreSQL, some server processes, and proxies on every line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from langgraph_durable.embedded import EmbeddedPostgres
from langgraph_durable.embedded_guard import postmaster
from tests.chaos.options import Options
from tests.chaos.timeline import Timeline
from tests.proxies import PostgresProxy, Proxy
from tests.servers import ROOT, Server, until

APP = Path(__file__).parent / "app" / "langgraph.json"
GRACE_SECONDS = 2.0
DEPLOY_SECONDS = GRACE_SECONDS + 12.0


class MortalPostgres(EmbeddedPostgres):
    """One that stays dead until somebody starts it again."""

    def _watch(self) -> None:
        return

    def signal(self, number: int) -> None:
        """To the postmaster, which is gone when this returns."""
        pid = postmaster(self.data)
        if pid is None:
            return
        os.kill(pid, number)
        until(lambda: postmaster(self.data) is None, "the postmaster is gone", 30)


@dataclass(slots=True)
class Place:
    """One server process, its line to the database and the line of its clients."""

    number: int
    server: Server
    database: PostgresProxy
    front: Proxy
    taken: threading.Lock
    restart_after: float = 0.2

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return f"http://127.0.0.1:{self.front.port}"


class Stage:
    """Made once; ``open`` starts everything, ``close`` leaves no process behind.

    Servers that end are started again by a keeper; ``timeline`` tells why each ended.
    """

    def __init__(self, options: Options, timeline: Timeline, packages: Path = ROOT) -> None:
        self.folder = options.folder
        self.journal = self.folder / "journal"
        self.timeline = timeline
        self.postgres = MortalPostgres(self.folder / "database", max_connections=400)
        self.postgres_taken = threading.Lock()
        self.places: list[Place] = []
        self._options = options
        self._packages = packages
        self._closing = threading.Event()
        self._timers: list[threading.Timer] = []
        self._keeper = threading.Thread(target=self._keep, name="keeper", daemon=True)

    @property
    def database_url(self) -> str:
        """Past every proxy."""
        return self.postgres.dsn

    def open(self) -> None:
        self.journal.mkdir(parents=True, exist_ok=True)
        url = self.postgres.start()
        for number in range(self._options.workers):
            self.places.append(self._place(number, url))
            self.timeline.born(number, self.places[-1].server.start(wait=False).pid)
        for place in self.places:
            until(place.server.ready, f"server {place.number} is ready", 60)
        self._keeper.start()

    def close(self) -> None:
        self._closing.set()
        if self._keeper.is_alive():
            self._keeper.join(30)
        for timer in self._timers:
            timer.join(30)
        for place in self.places:
            place.database.flow()
            place.database.come_back()
            with suppress(OSError, subprocess.TimeoutExpired):
                place.server.close()
            place.front.close()
            place.database.close()
        self.postgres.stop()

    def clear(self) -> None:
        """No fault lasts any longer: every process runs, every line works."""
        for place in self.places:
            place.database.flow()
            place.database.come_back()
            place.database.delay_seconds = place.front.delay_seconds = 0.0
            place.front.come_back()
        self.postgres.start()

    def _place(self, number: int, url: str) -> Place:
        database = PostgresProxy(url)
        server = Server(
            APP,
            database_url=database.conninfo,
            command="serve",
            log=self.folder / f"server-{number}.log",
            env={
                "PYTHONPATH": str(self._packages),
                "CHAOS_JOURNAL": str(self.journal),
                "BG_JOB_MAX_RETRIES": "100",
                "N_JOBS_PER_WORKER": "10",
                "BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS": str(GRACE_SECONDS),
                "LANGGRAPH_DURABLE_LEASE_SECONDS": str(self._options.lease_seconds),
                "LANGGRAPH_DURABLE_HEARTBEAT_SECONDS": "0.5",
            },
        )

        def connect() -> socket.socket:
            return socket.create_connection(("127.0.0.1", server.port), 5)

        return Place(number, server, database, Proxy(connect), threading.Lock())

    def _keep(self) -> None:
        while not self._closing.wait(0.05):
            for place in self.places:
                process = place.server.process
                if process is not None and process.poll() is not None:
                    self._bring_back(place, process.pid, process.returncode)

    def _bring_back(self, place: Place, pid: int, code: int) -> None:
        self.timeline.died(place.number, pid, code)
        place.server.process = None
        pause, place.restart_after = place.restart_after, 0.2
        timer = threading.Timer(pause, self._start_again, (place,))
        self._timers = [t for t in self._timers if t.is_alive()] + [timer]
        timer.start()

    def _start_again(self, place: Place) -> None:
        if not self._closing.is_set():
            place.server.start(wait=False)
            self.timeline.born(place.number, place.server.pid)

    def kill(self, place: Place, restart_after: float) -> None:
        """kill -9; the keeper brings it back."""
        self._signal(place, signal.SIGKILL, restart_after)

    def terminate(self, place: Place, restart_after: float) -> bool:
        """SIGTERM; did the process end in time? If not it is killed."""
        process = place.server.process
        self._signal(place, signal.SIGTERM, restart_after)
        deadline = time.monotonic() + DEPLOY_SECONDS
        while process is not None and process.returncode is None:
            if time.monotonic() > deadline:
                process.kill()
                return False
            time.sleep(0.05)
        return True

    def _signal(self, place: Place, number: int, restart_after: float) -> None:
        process = place.server.process
        if process is not None and process.returncode is None:
            place.restart_after = restart_after
            self.timeline.expect(process.pid, number)
            process.send_signal(number)
