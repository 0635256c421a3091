"""TCP proxies: one that can stop in the middle of what a client sends, one that cuts lines."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Line:
    """One connection: the client's end and the server's.

    ``backend`` is the process behind it, when that is a PostgreSQL which has told it.
    """

    def __init__(self, ends: tuple[socket.socket, socket.socket]) -> None:
        self.ends = ends
        self.backend: int | None = None
        self.flowing = threading.Event()
        self.flowing.set()

    def overhear(self, data: bytes, up: bool) -> None:
        """PostgreSQL's BackendKeyData is part of its first answers."""
        if not up and self.backend is None and (at := data.find(b"K\0\0\0\x0c")) >= 0:
            self.backend = int.from_bytes(data[at + 5 : at + 9])

    def close(self) -> None:
        for end in self.ends:
            end.close()


class Proxy:
    """Forwards to whatever ``connect`` opens. ``hold`` stops one direction at a pattern.

    ``delay_seconds`` is how late everything arrives.
    """

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.connections = 0
        self._pattern: bytes | None = None
        self._behind = 0
        self.held = threading.Event()
        self._resume = threading.Event()
        self._away = threading.Event()
        self.refused = 0
        self.delay_seconds = 0.0
        self._flowing = threading.Event()
        self._flowing.set()
        self._lines: set[Line] = set()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def hold(self, pattern: bytes, *, behind: int = 0) -> None:
        """Forward up to ``behind`` bytes past the pattern's start, then nothing on that connection.

        ``held`` is set when it happens.
        """
        self._pattern, self._behind = pattern, behind

    def resume(self) -> None:
        """Let what was held go on."""
        self._resume.set()

    def cut(self) -> None:
        """Break every connection."""
        for one in (end for line in list(self._lines) for end in line.ends):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def leave(self) -> None:
        """Break every connection and take no new one, as a server that is gone."""
        self._away.set()
        self.cut()

    def come_back(self) -> None:
        self._away.clear()

    def stall(self) -> None:
        """Forward nothing on any connection, and cut none: they are half open."""
        self._flowing.clear()

    def flow(self) -> None:
        """The end of a stall."""
        self._flowing.set()
        for line in list(self._lines):
            line.flowing.set()

    def close(self) -> None:
        self._resume.set()
        self.flow()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(5)
        self.cut()
        for thread in self._threads:
            thread.join(5)
        for line in list(self._lines):
            line.close()
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                if self._away.is_set():
                    self.refused += 1
                    client.close()
                    continue
                self.connections += 1
                try:
                    server = self._connect()
                except OSError:
                    client.close()
                    continue
                self._join(client, server)

    def _join(self, client: socket.socket, server: socket.socket) -> None:
        """Forward both ways; when both have ended, nothing is left of the connection."""
        line = Line((client, server))
        self._lines.add(line)
        ended: list[bool] = []

        def forward(source: socket.socket, target: socket.socket, up: bool) -> None:
            self._pump(line, source, target, up)
            ended.append(up)
            if len(ended) == 2:
                self._lines.discard(line)
                line.close()

        for ends in ((client, server, True), (server, client, False)):
            thread = threading.Thread(target=forward, args=ends, daemon=True)
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
            thread.start()

    def _pump(self, line: Line, source: socket.socket, target: socket.socket, up: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                line.overhear(data, up)
                line.flowing.wait()
                self._flowing.wait()
                if self.delay_seconds:
                    time.sleep(self.delay_seconds)
                if up and self._pattern and (found := data.find(self._pattern)) >= 0:
                    self._pattern = None
                    place = found + self._behind
                    target.sendall(data[:place])
                    self.held.set()
                    self._resume.wait()
                    data = data[place:]
                target.sendall(data)
            line.flowing.wait()
            self._flowing.wait()
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class PostgresProxy(Proxy):
    """Forwards to the server of a conninfo."""

    def __init__(self, conninfo: str) -> None:
        parts = conninfo_to_dict(conninfo)
        path = f"{parts['host']}/.s.PGSQL.{parts.get('port') or 5432}"

        def connect() -> socket.socket:
            server = socket.socket(socket.AF_UNIX)
            server.connect(path)
            return server

        super().__init__(connect)
        self.conninfo = make_conninfo(conninfo, host="127.0.0.1", port=self.port)

    def stall_backend(self, pid: int) -> bool:
        """Forward nothing between one backend and its client until ``flow``; was it found?"""
        found = [line for line in list(self._lines) if line.backend == pid]
        for line in found:
            line.flowing.clear()
        return bool(found)


class CuttingProxy(Proxy):
    """Forwards to the server of a URL and cuts every connection again and again."""

    def __init__(self, url: str, *, every_seconds: float) -> None:
        place = urlsplit(url)
        super().__init__(lambda: socket.create_connection((place.hostname, place.port)))
        self.url = f"http://127.0.0.1:{self.port}"
        self._every_seconds = every_seconds
        self._over = threading.Event()
        self._threads.append(threading.Thread(target=self._keep_cutting, daemon=True))
        self._threads[-1].start()

    def close(self) -> None:
        self._over.set()
        super().close()

    def _keep_cutting(self) -> None:
        while not self._over.wait(self._every_seconds):
            self.cut()
