"""Whoever waits for a write is told, whatever becomes of it: no future stays unresolved."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import psycopg
import pytest

from langgraph_durable.ending import Ending
from langgraph_durable.errors import LeaseLost, StoreUnavailable
from langgraph_durable.eventlog.batch import Committed
from langgraph_durable.eventlog.change import Change, RunLog
from langgraph_durable.eventlog.writer import Writer
from langgraph_durable.postgres import Database
from langgraph_durable.settings import Settings
from tests.proxies import PostgresProxy

PATIENCE_SECONDS = 5.0


def writer(database_url: str, committed: Any = lambda hints: None) -> Writer:
    database = Database(Settings(database_url=database_url), "w")
    return Writer(database, lease_seconds=20, linger_seconds=0, committed=committed)


@pytest.fixture
def writing(database_url: str) -> Iterator[Writer]:
    one = writer(database_url)
    one.start()
    yield one
    one.stop()


def attempt(writing: Writer, failures: list[Exception]) -> RunLog:
    """An attempt that owns nothing: the database will refuse what it writes."""
    return RunLog(
        run_id=str(uuid.uuid4()),
        attempt=1,
        thread_id="t",
        next_seq=1,
        write=writing.put,
        on_lost=failures.append,
    )


def write(log: RunLog) -> Future[None]:
    return log.put(Change(log=log, events=[log.event("custom", "1")], urgent=True))


def test_a_refused_write_fails_and_so_does_everything_behind_it(writing: Writer) -> None:
    failures: list[Exception] = []
    log = attempt(writing, failures)
    futures = [write(log) for _ in range(20)]
    assert all(isinstance(f.exception(PATIENCE_SECONDS), LeaseLost) for f in futures)
    assert isinstance(write(log).exception(0), LeaseLost)
    assert len(failures) == 1


@pytest.mark.parametrize("error", [TypeError("odd"), UnicodeError("odd"), psycopg.Error("odd")])
def test_a_statement_that_cannot_even_be_sent_fails_its_attempts_only(
    writing: Writer, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def raises(groups: Any) -> None:
        raise error

    monkeypatch.setattr(writing, "_commit", raises)
    futures = [write(attempt(writing, [])) for _ in range(3)]
    assert [f.exception(PATIENCE_SECONDS) for f in futures] == [error] * 3
    monkeypatch.undo()
    assert isinstance(write(attempt(writing, [])).exception(PATIENCE_SECONDS), LeaseLost)


def test_followers_that_cannot_be_told_do_not_stop_the_writer(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def committed(hints: list[str]) -> None:
        raise RuntimeError("the loop is closed")

    one = writer(database_url, committed)
    monkeypatch.setattr(one, "_commit", lambda groups: None)
    one.start()
    for _ in range(2):
        failures: list[Exception] = []
        assert write(attempt(one, failures)).exception(PATIENCE_SECONDS) is None
        assert failures == []
    one.stop()


def test_what_waits_for_a_lock_at_the_stop_fails_in_time(database_url: str) -> None:
    one = writer(database_url)
    one.start()
    options = "-c search_path=langgraph_durable"
    with psycopg.connect(database_url, options=options) as other:
        other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        futures = [write(attempt(one, [])) for _ in range(2)]
        one.stop(1.5)
        assert all(isinstance(f.exception(0), StoreUnavailable) for f in futures)


def test_what_waits_for_the_database_at_the_stop_fails_in_time(database_url: str) -> None:
    proxy = PostgresProxy(database_url)
    proxy.leave()
    one = writer(proxy.conninfo)
    one.start()
    futures = [write(attempt(one, [])) for _ in range(2)]
    one.stop()
    assert all(isinstance(f.exception(0), StoreUnavailable) for f in futures)
    proxy.close()


def test_a_write_behind_the_stop_fails_at_once(database_url: str) -> None:
    failures: list[Exception] = []
    one = writer(database_url)
    one.start()
    one.stop()
    log = attempt(one, failures)
    assert isinstance(write(log).exception(0), StoreUnavailable)
    assert isinstance(write(log).exception(0), StoreUnavailable)
    assert len(failures) == 1


def test_readers_are_not_told_of_an_end_that_was_refused(database_url: str) -> None:
    told: list[Committed] = []
    one = writer(database_url, told.extend)
    one.start()
    log = attempt(one, [])
    end = Ending.complete({}).change(log, Change(log=log, events=[log.event("custom", "1")]))
    assert isinstance(log.put(end).exception(PATIENCE_SECONDS), LeaseLost)
    one.stop()
    assert [(each.run_id, each.finish, each.rows) for each in told] == [(log.run_id, None, [])]
