"""The command line as real processes: what it prints, how it ends, what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from langgraph_durable.embedded import EmbeddedPostgres
from langgraph_durable.embedded_guard import postmaster

GRAPHS = """
import asyncio, pathlib, threading
from langgraph.graph import MessagesState, StateGraph

assert threading.current_thread() is threading.main_thread()
asyncio.run(asyncio.sleep(0))  # some graphs do so at their import

WORD = "first"

async def nap(state):
    pathlib.Path("asleep").touch()
    await asyncio.sleep(float(state["messages"][-1].content))
    return {"messages": [("ai", WORD)]}

builder = StateGraph(MessagesState).add_node("nap", nap).set_entry_point("nap")
agent = builder.compile()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A project that naps; nothing of its database may be left at the end."""
    (tmp_path / "napping.py").write_text(GRAPHS)
    configure(tmp_path, {"agent": "./napping.py:agent"})
    yield tmp_path
    until(lambda: postmaster(tmp_path / ".langgraph_durable" / "postgres") is None)


def configure(folder: Path, graphs: Any, **more: Any) -> None:
    (folder / "langgraph.json").write_text(json.dumps({"graphs": graphs, **more}))


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.02)


def environment(**more: str) -> dict[str, str]:
    named = ("PG", "DATABASE", "POSTGRES", "LANGGRAPH_DURABLE")
    return {k: v for k, v in os.environ.items() if not k.startswith(named)} | more


def command(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "langgraph_durable", *arguments)


def run(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(PYTHONPATH=os.pathsep.join(filter(None, sys.path)), **env),
        capture_output=True,
        text=True,
        timeout=60,
    )


class Server:
    """A running command with the address that it told."""

    def __init__(self, folder: Path, *arguments: str, **env: str) -> None:
        self._errors = (folder / "stderr").open("a+")
        self.process = subprocess.Popen(
            command(*arguments),
            cwd=folder,
            env=environment(PYTHONPATH=os.pathsep.join(filter(None, sys.path)), **env),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )
        self.url = self._url() if "worker" not in arguments else ""

    def _url(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"LangGraph\s+(\S+)", line):
                return found[1]
        raise AssertionError(f"not ready: {self.errors}")

    @property
    def errors(self) -> str:
        self._errors.flush()
        self._errors.seek(0)
        return self._errors.read()

    def end(self, number: int = signal.SIGTERM) -> int:
        """The exit status after that signal."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        try:
            return self.process.wait(40)
        finally:
            self._close()

    def _close(self) -> None:
        self._errors.close()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def start_run(self, seconds: float, thread_id: str | None = None) -> tuple[str, str]:
        """Thread and run of a nap that lasts so long."""
        with httpx.Client(base_url=self.url) as client:
            if thread_id is None:
                thread_id = client.post("/threads", json={}).json()["thread_id"]
            body = {"assistant_id": "agent", "input": asking(seconds)}
            answer = client.post(f"/threads/{thread_id}/runs", json=body)
            assert answer.status_code == 200, answer.text
            return str(thread_id), str(answer.json()["run_id"])

    def status(self, thread_id: str, run_id: str) -> str:
        return str(httpx.get(f"{self.url}/threads/{thread_id}/runs/{run_id}").json()["status"])

    def nap(self) -> str:
        """What the agent says after a nap of no length."""
        body = {"assistant_id": "agent", "input": asking(0)}
        answer = httpx.post(f"{self.url}/runs/wait", json=body, timeout=30)
        return str(answer.json()["messages"][-1]["content"])


def asking(seconds: float) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": str(seconds)}]}


@contextmanager
def serving(folder: Path, *arguments: str, **env: str) -> Iterator[Server]:
    server = Server(folder, *arguments, **env)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found if b"--parent-fd" in cmdline(int(child))]


def cmdline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# -- what needs no server


def test_the_version_is_told_without_loading_langgraph(folder: Path) -> None:
    code = (
        "import sys; from langgraph_durable.cli import main; main(['version'])\n"
        "assert not {m.partition('.')[0] for m in sys.modules}"
        " & {'langgraph', 'psycopg', 'fastapi', 'langchain_core', 'uvicorn'}"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"langgraph-durable \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize("name", ["check", "validate"])
def test_a_good_configuration_is_told_so(folder: Path, name: str) -> None:
    done = run(folder, name)
    assert (done.returncode, done.stdout) == (0, "langgraph.json: agent can be served\n")


def test_check_says_everything_that_is_wrong_at_once(folder: Path) -> None:
    (folder / "broken.py").write_text("import nowhere_to_be_found")
    graphs = {"agent": "./napping.py:agent", "broken": "./broken.py:x", "gone": "./gone.py:x"}
    configure(folder, graphs)
    done = run(folder, "check", N_JOBS_PER_WORKER="lots", DATABASE_URL="mysql://u:hidden@h/d")
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert all(line.startswith("langgraph-durable: ") for line in lines)
    subjects = sorted(line.split(": ")[1] for line in lines)
    assert subjects == ["N_JOBS_PER_WORKER", "database_url", "graphs.broken", "graphs.gone"]
    assert "hidden" not in done.stderr


GONE = {"DATABASE_URL": "postgresql://u:s3cret@127.0.0.1:1/d"}


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (("dev", "--config", "no.json"), {}, "no.json: No such file or directory"),
        (("dev", "--config", "cut.json"), {}, "cut.json: not JSON"),
        (("dev", "--config", "list.json"), {}, "list.json: must be a JSON object"),
        (("dev", "--config", "types.json"), {}, "dependencies: must be a list of strings"),
        (("dev", "--port", "99999"), {}, "Cannot listen on 127.0.0.1:99999"),
        (("dev", "--host", "nowhere.invalid"), {}, "Cannot listen on nowhere.invalid:2024"),
        (("serve",), {"DATABRICKS_APP_PORT": "http"}, "DATABRICKS_APP_PORT: 'http' is not a port"),
        (("worker",), GONE, "cannot use the database"),
        (
            ("worker",),
            GONE | {"LANGGRAPH_DURABLE_CREDENTIALS": "json:loads"},
            "cannot use the database: credentials: TypeError",
        ),
        (
            ("worker",),
            GONE | {"LANGGRAPH_DURABLE_CREDENTIALS": "os:getpid"},
            "the provider gave neither a password",
        ),
        (
            ("worker",),
            GONE | {"LANGGRAPH_DURABLE_CREDENTIALS": "nowhere:password"},
            "credentials: 'nowhere:password' cannot be loaded",
        ),
        (("dev", "--recovery", "prayer"), {}, "'prayer' is not a recovery strategy"),
        (("serve",), {}, "No database is configured"),
        (("worker",), {}, "No database is configured"),
        (("serve", "--port", "0"), GONE, "cannot use the database"),
        (("migrate",), GONE, "cannot use the database"),
    ],
)
def test_what_prevents_a_start_is_one_line_and_no_stack(
    folder: Path, arguments: tuple[str, ...], env: dict[str, str], said: str
) -> None:
    (folder / "cut.json").write_text('{"graphs": ')
    (folder / "list.json").write_text("[]")
    types = {"graphs": {"agent": "./napping.py:agent"}, "dependencies": 5}
    (folder / "types.json").write_text(json.dumps(types))
    done = run(folder, *arguments, **env)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "s3cret" not in done.stderr


def test_a_graph_that_cannot_be_imported_prevents_a_start(folder: Path) -> None:
    (folder / "napping.py").write_text("import nowhere_to_be_found")
    done = run(folder, "dev", "--port", "0")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "langgraph-durable: graphs.agent: ModuleNotFoundError:"
        " No module named 'nowhere_to_be_found'"
    ]


def test_a_taken_port_prevents_a_start(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run(folder, "dev", "--port", str(port))
    assert done.returncode == 1
    said = f"langgraph-durable: Cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert done.stderr == said


def test_migrate_says_what_it_did(folder: Path) -> None:
    first, second = (run(folder, "migrate", "--embedded") for _ in range(2))
    assert first.stdout.startswith("applied: 1")
    assert second.stdout == "nothing to do\n"


# -- one server


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_dev_serves_and_a_signal_leaves_nothing_behind(folder: Path, number: int) -> None:
    with serving(folder, "dev", "--port", "0") as server:
        assert httpx.get(f"{server.url}/ok").json() == {"ok": True}
        assert server.nap() == "first"
        data = folder / ".langgraph_durable" / "postgres"
        assert postmaster(data) is not None
        assert server.end(number) == 0
        assert postmaster(data) is None


def test_a_stop_hands_back_a_run_that_does_not_end_in_time_and_it_goes_on_later(
    folder: Path,
) -> None:
    env = {"BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS": "0.5"}
    with serving(folder, "dev", "--port", "0", **env) as server:
        thread_id, run_id = server.start_run(3)
        until((folder / "asleep").exists)
        assert server.end() == 0
    with serving(folder, "dev", "--port", "0") as server:
        until(lambda: server.status(thread_id, run_id) == "success")


def test_a_stop_lets_a_short_run_end(folder: Path) -> None:
    with serving(folder, "dev", "--port", "0") as server:
        thread_id, run_id = server.start_run(1)
        until((folder / "asleep").exists)
        assert server.end() == 0
    with serving(folder, "dev", "--port", "0") as server:
        assert server.status(thread_id, run_id) == "success"


def test_a_stop_closes_streams(folder: Path) -> None:
    env = {"BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS": "0.5"}
    with serving(folder, "dev", "--port", "0", **env) as server:
        body = {"assistant_id": "agent", "input": asking(60), "stream_mode": "updates"}
        seen = []
        asked = httpx.stream("POST", f"{server.url}/runs/stream", json=body, timeout=30)
        with suppress(httpx.RemoteProtocolError), asked as stream:  # cut: it was not the end
            for line in stream.iter_lines():
                seen.append(line)
                if line.startswith("event: metadata"):
                    server.process.send_signal(signal.SIGTERM)
        assert "event: metadata" in seen
        assert "event: end" not in seen
        assert server.wait() == 0


def test_a_second_signal_ends_it_at_once(folder: Path) -> None:
    with serving(folder, "dev", "--port", "0") as server:
        thread_id, run_id = server.start_run(60)
        until(lambda: server.status(thread_id, run_id) == "running")
        server.process.send_signal(signal.SIGINT)
        until(lambda: not answers(server.url))
        assert server.end(signal.SIGINT) == 130


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ok").status_code == 200
    except httpx.HTTPError:
        return False


def test_a_run_survives_kill_9_of_its_server(folder: Path) -> None:
    with serving(folder, "dev", "--port", "0") as server:
        thread_id, run_id = server.start_run(1)
        until(lambda: server.status(thread_id, run_id) == "running")
        server.end(signal.SIGKILL)
    with serving(folder, "dev", "--port", "0") as server:
        until(lambda: server.status(thread_id, run_id) == "success")


def test_the_ready_message_has_a_line_to_paste(folder: Path) -> None:
    with serving(folder, "dev", "--port", "0", MOUNT_PREFIX="/x") as server:
        assert server.url.endswith("/x")
        stdout = server.process.stdout
        assert stdout is not None
        shown = [stdout.readline(), stdout.readline()]
    assert f"{server.url}/v1/responses" in shown[0]
    assert f'curl -N {server.url}/v1/responses -d \'{{"model": "agent"' in shown[1]


def test_times_of_the_start_are_told_at_debug_level(folder: Path) -> None:
    with serving(folder, "dev", "--port", "0", "--log-level", "debug") as server:
        assert {"import took", "database took"} <= {
            found[0] for found in re.finditer(r"\w+ took", server.errors)
        }


def test_a_worker_executes_what_another_process_accepted(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder / "home")
    url = postgres.start()
    try:
        with serving(folder, "serve", "--port", "0", DATABASE_URL=url) as server:
            thread_id, run_id = server.start_run(2)
            until(lambda: server.status(thread_id, run_id) == "running")
            with serving(folder, "worker", DATABASE_URL=url) as worker:
                assert worker.process.stdout is not None
                assert "worker ready" in worker.process.stdout.readline()
                server.end(signal.SIGKILL)
                until(lambda: status_in(url, run_id) == "success")
                assert worker.end() == 0
    finally:
        postgres.stop()


def status_in(url: str, run_id: str) -> str:
    import psycopg

    with psycopg.connect(url) as connection:
        query = "SELECT status FROM langgraph_durable.runs WHERE run_id = %s"
        row = connection.execute(query, (run_id,)).fetchone()
    assert row is not None
    return str(row[0])


# -- several processes


def test_workers_share_a_port_and_a_dead_one_is_replaced(folder: Path) -> None:
    with serving(folder, "serve", "--embedded", "--workers", "2", "--port", "0") as server:
        until(lambda: len(children(server.process.pid)) == 2)
        first, second = children(server.process.pid)
        assert server.nap() == "first"
        os.kill(first, signal.SIGKILL)
        until(lambda: len(set(children(server.process.pid)) - {first, second}) == 1)
        assert server.nap() == "first"
        assert server.end() == 0
    assert not cmdline(second)


def test_a_killed_supervisor_leaves_no_worker_and_no_database(folder: Path) -> None:
    with serving(folder, "serve", "--embedded", "--workers", "2", "--port", "0") as server:
        until(lambda: len(children(server.process.pid)) == 2)
        orphans = children(server.process.pid)
        until(lambda: server.nap() == "first")
        server.end(signal.SIGKILL)
        until(lambda: not any(map(cmdline, orphans)))


def test_workers_that_cannot_start_end_the_command(folder: Path) -> None:
    (folder / "napping.py").write_text("import nowhere_to_be_found")
    done = run(folder, "serve", "--embedded", "--workers", "2", "--port", "0")
    assert done.returncode == 1
    assert "nowhere_to_be_found" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_changed_file_restarts_the_server(folder: Path) -> None:
    with serving(folder, "dev", "--reload", "--port", "0") as server:
        assert server.nap() == "first"
        (folder / "napping.py").write_text("nonsense(")
        until(lambda: "SyntaxError" in server.errors)
        (folder / "napping.py").write_text(GRAPHS.replace("first", "second"))
        until(lambda: answers(server.url) and server.nap() == "second")
        assert server.end() == 0
