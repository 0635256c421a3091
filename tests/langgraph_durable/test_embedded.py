"""The embedded PostgreSQL against real processes and real kills."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from langgraph_durable.embedded_guard import postmaster

USER = """
import pathlib, sys
from langgraph_durable.embedded import EmbeddedPostgres
postgres = EmbeddedPostgres(pathlib.Path(sys.argv[1]))
print(postgres.start(), flush=True)
sys.stdin.readline()
postgres.stop()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    until(lambda: postmaster(tmp_path / "home" / "postgres") is None)


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def user_process(home: Path) -> subprocess.Popen[str]:
    """Another server process; returns once its database answers."""
    process = subprocess.Popen(
        (sys.executable, "-c", USER, str(home)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("postgresql://")
    return process


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=30)
    assert process.returncode == 0


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def query(dsn: str, statement: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(statement.encode()).fetchone()
        assert row is not None
        return row[0]


def guards(home: Path) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if os.fsencode(home) in arguments and any(a.endswith(b"guard.py") for a in arguments):
            found.append(int(folder.name))
    return found


def test_a_first_start_gives_a_database_that_answers_and_a_stop_leaves_no_process(
    home: Path,
) -> None:
    postgres = EmbeddedPostgres(home)
    dsn = postgres.start()
    assert query(dsn, "SELECT current_setting('fsync')") == "on"
    assert query(dsn, "SELECT current_setting('listen_addresses')") == ""
    postgres.stop()
    assert postmaster(home / "postgres") is None
    until(lambda: not guards(home))


def test_data_outlives_a_stop(home: Path) -> None:
    postgres = EmbeddedPostgres(home)
    with psycopg.connect(postgres.start()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
    postgres.stop()
    assert query(postgres.start(), "SELECT count(*) FROM kept") == 1
    postgres.stop()


def test_two_server_processes_share_one_directory_and_the_last_stops_it(home: Path) -> None:
    first, second = user_process(home), user_process(home)
    pid = postmaster(home / "postgres")
    leave(first)
    assert postmaster(home / "postgres") == pid
    assert query(EmbeddedPostgres(home).dsn, "SELECT 1") == 1
    leave(second)
    assert postmaster(home / "postgres") is None


def test_processes_that_start_at_once_on_an_empty_directory_all_get_their_database(
    home: Path,
) -> None:
    commands = (sys.executable, "-c", USER, str(home))
    processes = [
        subprocess.Popen(commands, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = {p.stdout.readline() for p in processes if p.stdout is not None}
    assert answers == {EmbeddedPostgres(home).dsn + "\n"}
    assert len(guards(home)) == 1
    for process in processes:
        leave(process)


def test_nothing_is_left_when_the_only_server_process_is_killed(home: Path) -> None:
    process = user_process(home)
    assert postmaster(home / "postgres") is not None
    kill(process)
    until(lambda: postmaster(home / "postgres") is None and not guards(home))


def test_nothing_is_left_when_the_directory_was_deleted_under_it(home: Path) -> None:
    process = user_process(home)
    pid = postmaster(home / "postgres")
    kill(process)
    until(lambda: deleted(home))
    until(lambda: not cmdline(pid))
    until(lambda: not guards(home))


def deleted(home: Path) -> bool:
    """A server that is stopping deletes files of its own meanwhile, and may make some."""
    shutil.rmtree(home, ignore_errors=True)
    return not home.exists()


def cmdline(pid: int | None) -> bytes:
    """Empty for a process that is dead but not yet buried."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_killed_server_process_does_not_take_the_database_from_another(home: Path) -> None:
    killed, other = user_process(home), user_process(home)
    pid = postmaster(home / "postgres")
    kill(killed)
    assert query(EmbeddedPostgres(home).dsn, "SELECT 1") == 1
    assert postmaster(home / "postgres") == pid
    leave(other)


def test_a_server_started_right_after_a_kill_finds_its_database_still_up(home: Path) -> None:
    process = user_process(home)
    pid = postmaster(home / "postgres")
    kill(process)
    again = user_process(home)
    assert postmaster(home / "postgres") == pid
    leave(again)


def test_a_killed_postmaster_is_started_again_while_in_use(home: Path) -> None:
    postgres = EmbeddedPostgres(home)
    dsn = postgres.start()
    pid = postmaster(home / "postgres")
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    until(lambda: postmaster(home / "postgres") not in (None, pid))
    assert query(postgres.start(), "SELECT 1") == 1
    assert postgres.dsn == dsn
    postgres.stop()


def test_a_pid_file_that_names_a_strange_process_does_not_stop_a_start(home: Path) -> None:
    postgres = EmbeddedPostgres(home)
    postgres.start()
    pid_file = home / "postgres" / "postmaster.pid"
    stale = pid_file.read_text()
    postgres.stop()
    pid_file.write_text(str(os.getpid()) + stale[stale.index("\n") :])
    assert query(postgres.start(), "SELECT 1") == 1
    postgres.stop()


def test_an_initialisation_cut_short_is_made_again(home: Path) -> None:
    (home / "postgres.new-cut" / "base").mkdir(parents=True)
    (home / "postgres.new-cut" / "PG_VERSION").write_text("18\n")
    postgres = EmbeddedPostgres(home)
    assert query(postgres.start(), "SELECT 1") == 1
    postgres.stop()
    assert not list(home.glob("postgres.new-*"))


def test_a_path_too_long_for_a_socket_works(home: Path) -> None:
    deep = home / ("a" * 60) / ("b" * 60)
    postgres = EmbeddedPostgres(deep)
    assert query(postgres.start(), "SELECT 1") == 1
    postgres.stop()


def test_a_path_with_spaces_and_quotes_works(home: Path) -> None:
    postgres = EmbeddedPostgres(home / "my agent's home")
    assert query(postgres.start(), "SELECT 1") == 1
    postgres.stop()
