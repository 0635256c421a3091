"""A PostgreSQL that asks for a password, and a password that does not last."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import threading
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from langgraph_durable.embedded_cluster import server_type
from langgraph_durable.embedded_guard import stop_postmaster
from tests.servers import free_port

ACCESS = """
local all postgres trust
host all agent 127.0.0.1/32 scram-sha-256
"""
PROVIDER = """
import pathlib, time

def password():
    text = pathlib.Path({file!r}).read_text()
    with pathlib.Path({file!r} + ".asked").open("a") as asked:
        asked.write("x")
    return text, time.time() + {seconds}
"""


class GuardedPostgres:
    """A server on a TCP port with one user, ``agent``, who needs the password of the moment.

    ``env`` names it as the platform does, without the password; the module ``minting`` in
    ``folder`` hands that out.
    """

    def __init__(self, folder: Path, *, seconds: float) -> None:
        self.port = free_port()
        self.seconds = seconds
        self.folder = folder
        self.password = ""
        self._data = folder / "data"
        self._server = server_type()(self._data, cleanup_mode=None)
        self._file = folder / "password"
        self._numbers = count()
        self._changing = threading.Lock()
        self._rotating = threading.Event()
        self._rotation = threading.Thread(target=self._rotate, daemon=True)

    @property
    def env(self) -> dict[str, str]:
        return {
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.port),
            "PGUSER": "agent",
            "PGDATABASE": "app",
            "LANGGRAPH_DURABLE_CREDENTIALS": "minting:password",
        }

    @property
    def admin(self) -> str:
        """Where the superuser may come in, past every password."""
        folder = str(self._data)
        return psycopg.conninfo.make_conninfo(host=folder, port=self.port, user="postgres")

    def start(self) -> None:
        self._data.mkdir(parents=True)
        for folder in (self._data.parent, *self._data.parent.parents):
            if folder.stat().st_uid == os.geteuid():
                folder.chmod(folder.stat().st_mode | 0o001)
        if self._server.system_user is not None:
            shutil.chown(self._data, self._server.system_user)
        self._run("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "-U", "postgres")
        (self._data / "pg_hba.conf").write_text(ACCESS)
        options = f"-k {shlex.quote(str(self._data))} -p {self.port} -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self._data / "log"), "start")
        self._execute("CREATE ROLE agent LOGIN")
        self._execute("CREATE DATABASE app OWNER agent")
        self.rotate()
        provider = PROVIDER.format(file=str(self._file), seconds=self.seconds)
        (self.folder / "minting.py").write_text(provider)
        self._rotation.start()

    def stop(self) -> None:
        self._rotating.set()
        self._rotation.join()
        stop_postmaster(self._data)

    def rotate(self) -> None:
        """A new ``password`` from now on; the one before is refused."""
        with self._changing:
            self.password = f"secret-{next(self._numbers)}"
            self._execute(f"ALTER ROLE agent PASSWORD '{self.password}'")
            fresh = self._file.with_suffix(".new")
            fresh.write_text(self.password)
            fresh.replace(self._file)

    @property
    def asked(self) -> int:
        """How often the provider was asked."""
        file = Path(f"{self._file}.asked")
        return file.stat().st_size if file.exists() else 0

    def connect(self, password: str) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="agent", dbname="app", password=password
        )

    def terminate_all(self) -> int:
        """Cut every connection of the user; answers how many there were."""
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'agent'"
        return self._execute(query)

    def _rotate(self) -> None:
        while not self._rotating.wait(self.seconds):
            self.rotate()

    def _execute(self, statement: str) -> int:
        with psycopg.connect(self.admin, dbname="postgres", autocommit=True) as conn:
            return conn.execute(statement).rowcount

    def _run(self, program: str, *arguments: str) -> None:
        identity: dict[str, Any] = {}
        if self._server.system_user is not None:
            entry = pwd.getpwnam(self._server.system_user)
            identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        command = (str(self._server.bin_path / program), *arguments, "-D", str(self._data))
        subprocess.run(
            command,
            check=True,
            cwd=self._data,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **identity,
        )
