"""How each fault is done, and the one who does them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import psycopg

from tests.chaos.schedule import Fault
from tests.chaos.stage import Place, Stage
from tests.chaos.timeline import Span


class Tormentor:
    """Does the faults of a schedule on a stage, each in a thread of its own.

    A fault whose victim is taken by another one goes to the next server, or is left out.
    """

    def __init__(self, stage: Stage, seed: int) -> None:
        self._stage = stage
        self._seed = seed
        self._threads: list[threading.Thread] = []
        self.left_out = 0

    def run(self, faults: list[Fault]) -> None:
        """Blocking: everything, then wait until the last effect is over."""
        began = time.monotonic()
        for fault in faults:
            time.sleep(max(0.0, began + fault.at - time.monotonic()))
            thread = threading.Thread(target=self._do, args=(fault,), daemon=True)
            self._threads.append(thread)
            thread.start()
        for thread in self._threads:
            thread.join(60)
        self._stage.clear()
        self._stage.timeline.faults_ended = time.time()

    def _do(self, fault: Fault) -> None:
        try:
            if fault.kind in _ON_POSTGRES:
                self._to_postgres(fault)
            else:
                self._to_server(fault)
        except psycopg.OperationalError:
            self.left_out += 1  # the database is away already
        except Exception as error:
            self._stage.timeline.complain(f"{fault}: {type(error).__name__}: {error}")

    def _to_postgres(self, fault: Fault) -> None:
        if not self._stage.postgres_taken.acquire(blocking=False):
            self.left_out += 1
            return
        span = self._stage.timeline.begin(fault.kind)
        try:
            _ON_POSTGRES[fault.kind](self._stage, fault, random.Random(f"{self._seed} {fault}"))
        finally:
            span.until = time.time()
            self._stage.postgres_taken.release()

    def _to_server(self, fault: Fault) -> None:
        count = len(self._stage.places)
        for number in range(fault.server, fault.server + count):
            place = self._stage.places[number % count]
            if place.taken.acquire(blocking=False):
                try:
                    self._strike(place, fault)
                finally:
                    place.taken.release()
                return
        self.left_out += 1

    def _strike(self, place: Place, fault: Fault) -> None:
        process = place.server.process
        if process is None:
            self.left_out += 1
            return
        span = self._stage.timeline.begin(fault.kind, server=place.number, pid=process.pid)
        try:
            _ON_SERVER[fault.kind](self._stage, place, fault, span)
        finally:
            span.until = time.time()


def _kill(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    stage.kill(place, fault.seconds)


def _freeze(stage: Stage, place: Place, fault: Fault, span: Span) -> None:
    with suppress(ProcessLookupError):
        os.kill(span.pid or 0, signal.SIGSTOP)
        time.sleep(fault.seconds)
        os.kill(span.pid or 0, signal.SIGCONT)


def _deploy(stage: Stage, place: Place, fault: Fault, span: Span) -> None:
    if not stage.terminate(place, fault.seconds):
        stage.timeline.complain(f"server {place.number} (pid {span.pid}) did not end on SIGTERM")


def _cut_clients(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.front.cut()


def _slow_clients(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.front.delay_seconds = 0.05 + fault.seconds / 20
    time.sleep(fault.seconds)
    place.front.delay_seconds = 0.0


def _cut_database(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.database.cut()


def _slow_database(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.database.delay_seconds = fault.seconds / 100
    time.sleep(fault.seconds)
    place.database.delay_seconds = 0.0


def _leave_database(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.database.leave()
    time.sleep(fault.seconds)
    place.database.come_back()


def _stall_database(stage: Stage, place: Place, fault: Fault, _: Span) -> None:
    place.database.stall()
    time.sleep(fault.seconds)
    place.database.flow()


def _lose_lock(stage: Stage, place: Place, fault: Fault, span: Span) -> None:
    """The database ends the session that shows the server alive, and the server does not hear of
    it: to the others it is dead while it works on."""
    with psycopg.connect(stage.database_url, autocommit=True) as conn:
        row = conn.execute(_LOCK_HOLDER, (f"%-{span.pid}-%",)).fetchone()
        if row is None or not place.database.stall_backend(row[0]):
            return
        conn.execute("SELECT pg_terminate_backend(%s)", (row[0],))
    time.sleep(fault.seconds)
    place.database.flow()


_LOCK_HOLDER = """
    SELECT a.pid FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid
    WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted AND a.application_name LIKE %s"""


def _kill_postgres(stage: Stage, fault: Fault, _: random.Random) -> None:
    stage.postgres.signal(signal.SIGKILL)
    time.sleep(fault.seconds)
    stage.postgres.start()


def _restart_postgres(stage: Stage, fault: Fault, chance: random.Random) -> None:
    stage.postgres.signal(chance.choice((signal.SIGQUIT, signal.SIGINT)))
    time.sleep(fault.seconds)
    stage.postgres.start()


def _kill_backend(stage: Stage, fault: Fault, chance: random.Random) -> None:
    if pids := _backends(stage):
        os.kill(chance.choice(pids), signal.SIGKILL)
        stage.postgres.start()


def _terminate_one(stage: Stage, fault: Fault, chance: random.Random) -> None:
    if pids := _backends(stage):
        _terminate(stage, [chance.choice(pids)])


def _terminate_all(stage: Stage, fault: Fault, _: random.Random) -> None:
    _terminate(stage, _backends(stage))


_SERVERS = (
    "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'langgraph-durable %' ORDER BY 1"
)


def _backends(stage: Stage) -> list[int]:
    with psycopg.connect(stage.database_url, autocommit=True) as conn:
        return [row[0] for row in conn.execute(_SERVERS)]


def _terminate(stage: Stage, pids: list[int]) -> None:
    with psycopg.connect(stage.database_url, autocommit=True) as conn:
        conn.execute("SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) AS p (pid)", (pids,))


_ON_SERVER: dict[str, Callable[[Stage, Place, Fault, Span], None]] = {
    "kill": _kill,
    "freeze": _freeze,
    "pause": _freeze,
    "deploy": _deploy,
    "cut_clients": _cut_clients,
    "slow_clients": _slow_clients,
    "cut_database": _cut_database,
    "slow_database": _slow_database,
    "leave_database": _leave_database,
    "stall_database": _stall_database,
    "lose_lock": _lose_lock,
}
_ON_POSTGRES: dict[str, Callable[[Stage, Fault, random.Random], None]] = {
    "kill_postgres": _kill_postgres,
    "restart_postgres": _restart_postgres,
    "kill_backend": _kill_backend,
    "terminate_one": _terminate_one,
    "terminate_all": _terminate_all,
}
