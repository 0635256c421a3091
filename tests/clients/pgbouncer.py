"""A real PgBouncer in transaction mode in front of a PostgreSQL on a socket."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from tests.servers import free_port, until

SESSIONS = 4
CONNECT_QUERY = (
    "SET search_path TO langgraph_durable,public; SET lock_timeout TO 5000;"
    " SET idle_in_transaction_session_timeout TO 10000"
)


class PgBouncer:
    """One process on a fixed port, which can be killed and started again.

    ``options`` are lines of its configuration, the ones that README asks for by default.
    """

    def __init__(
        self,
        database_url: str,
        folder: Path,
        *,
        mode: str = "transaction",
        options: tuple[str, ...] = ("ignore_startup_parameters = options",),
        connect_query: str = CONNECT_QUERY,
    ) -> None:
        parts: dict[str, Any] = conninfo_to_dict(database_url)
        port, name = free_port(), parts["dbname"]
        self._owner = pwd.getpwuid(Path(parts["host"]).stat().st_uid).pw_name
        self._at = f"host=127.0.0.1 port={port} user=postgres"
        self.conninfo = f"{self._at} dbname={name}"
        self._log = folder / "pgbouncer.log"
        self._file = folder / "pgbouncer.ini"
        lines = [
            "[databases]",
            f"{name} = host={parts['host']} dbname={name} user={parts['user']}"
            f" connect_query='{connect_query}'",
            "[pgbouncer]",
            f"pool_mode = {mode}",
            f"default_pool_size = {SESSIONS}",
            "max_client_conn = 500",
            "listen_addr = 127.0.0.1",
            f"listen_port = {port}",
            "unix_socket_dir =",
            "auth_type = any",
            "admin_users = postgres",
            *options,
        ]
        self._file.write_text("\n".join([*lines, ""]))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        """It does not run as root, and only its owner may use the database's socket."""
        identity = ("-u", self._owner) if os.geteuid() == 0 else ()
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                (os.environ["PGBOUNCER"], *identity, str(self._file)), stdout=log, stderr=log
            )
        until(self._answers, f"PgBouncer is ready; see {self._log}")
        return self

    def kill(self) -> None:
        """kill -9: every connection through it is cut, on both sides."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.kill()

    def show(self, what: str) -> list[dict[str, Any]]:
        """What its console says of the database in front of which it stands."""
        with psycopg.connect(
            f"{self._at} dbname=pgbouncer", autocommit=True, row_factory=dict_row
        ) as conn:
            rows = conn.execute(f"SHOW {what}".encode()).fetchall()
        return [row for row in rows if row["database"] != "pgbouncer"]

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()
        try:
            self.show("POOLS")
        except psycopg.OperationalError:
            return False
        return True
