"""Real servers and databases for tests: subprocesses, killed for real."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import httpx
import psycopg

ROOT = Path(__file__).parent.parent
PATIENCE_SECONDS = 60.0


def until(condition: Callable[[], bool], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait for a condition; fail with its name when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:.0f} s in vain: {what}")
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Databases:
    """Databases cloned from one migrated template."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._made = 0

    def url_of(self, name: str) -> str:
        return psycopg.conninfo.make_conninfo(self._url, dbname=name)

    def create(self, template: str | None = None) -> str:
        """The URL of a new database."""
        self._made += 1
        name = f"test_{os.getpid()}_{self._made}"
        with psycopg.connect(self._url, autocommit=True) as conn:
            source = f" TEMPLATE {template}" if template else ""
            conn.execute(f"CREATE DATABASE {name}{source}")
        return self.url_of(name)

    def drop(self, url: str) -> None:
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        with psycopg.connect(self._url, autocommit=True) as conn:
            conn.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


class Server:
    """One ``langgraph-durable`` process on a fixed port, which can be killed and started again."""

    def __init__(
        self,
        config: Path,
        *,
        database_url: str | None = None,
        env: Mapping[str, str] | None = None,
        command: str = "dev",
        options: tuple[str, ...] = (),
        log: Path | None = None,
    ) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log or Path(os.devnull)
        self.database_url = database_url or ""
        self._config = config
        self._command = command
        self._options = options
        self._env = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("PG", "DATABASE"))},
            "PYTHONPATH": str(ROOT),
            "LANGSMITH_TRACING": "false",
            **({"DATABASE_URL": database_url} if database_url else {}),
            **(env or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self, *, wait: bool = True) -> Self:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.arguments(), env=self._env, stdout=log, stderr=log, cwd=self._config.parent
            )
        if wait:
            until(self.ready, f"{self._command} is ready; see {self.log}")
        return self

    def arguments(self) -> list[str]:
        """The command line."""
        arguments = [sys.executable, "-m", "langgraph_durable", self._command]
        arguments += ["--config", str(self._config), "--log-level", "debug", *self._options]
        if self._command != "worker":
            arguments += ["--port", str(self.port)]
        return arguments

    def ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            text = self.log.read_text() if self.log.is_file() else ""
            raise AssertionError(f"the server ended with {self.process.returncode}\n{text[-3000:]}")
        if self._command == "worker":
            return self.log.is_file() and "worker ready" in self.log.read_text()
        try:
            return httpx.get(f"{self.url}/ok", timeout=2).status_code == 200
        except httpx.TransportError:
            return False

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        assert self.process is not None
        self.process.wait(10)

    def terminate(self, seconds: float = 20.0) -> float:
        """SIGTERM; answers how long it took."""
        began = time.monotonic()
        self.signal(signal.SIGTERM)
        assert self.process is not None
        self.process.wait(seconds)
        return time.monotonic() - began

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
