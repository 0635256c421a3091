"""A pooler as PgBouncer in transaction mode: few sessions, lent for one transaction each."""

from __future__ import annotations

import queue
import select
import socket
import struct
import threading
from contextlib import suppress
from typing import Any

from psycopg.conninfo import conninfo_to_dict

KNOWN = {"user", "database", "application_name", "client_encoding", "timezone", "datestyle"}
SSL_REQUEST, GSS_REQUEST = 80877103, 80877104


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


class Session:
    """A connection whose messages are counted: what it still owes, and whether it is idle."""

    def __init__(self, path: str, user: str, database: str, query: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self._rest = b""
        body = struct.pack("!I", 196608)
        body += f"user\0{user}\0database\0{database}\0\0".encode()
        self.socket.sendall(struct.pack("!I", len(body) + 4) + body)
        self.owes, self.idle = 1, False
        self.greeting = self._settled()
        if query:
            self.send(message(b"Q", query.encode() + b"\0"), owes=1)
            self._settled()

    def send(self, data: bytes, *, owes: int) -> None:
        self.owes += owes
        self.idle = self.idle and not data
        self.socket.sendall(data)

    def receive(self) -> bytes:
        data = self.socket.recv(65536)
        self._rest += data
        while len(self._rest) >= 5 and len(self._rest) > (size := _size(self._rest)):
            if self._rest[:1] == b"Z":
                self.owes, self.idle = self.owes - 1, self._rest[5:6] == b"I"
            self._rest = self._rest[size + 1 :]
        return data

    def _settled(self) -> bytes:
        told = b""
        while self.owes:
            told += self.receive()
        return told


class Pooler:
    """Listens at ``conninfo``. ``query`` is run once in every session, as ``connect_query`` is.

    Like PgBouncer it refuses start-up parameters that it cannot keep per session, unless it
    ``ignores`` them.
    """

    def __init__(
        self, conninfo: str, *, sessions: int = 3, ignores: frozenset[str] = frozenset(), query: str
    ) -> None:
        parts: dict[str, Any] = conninfo_to_dict(conninfo)
        path = f"{parts['host']}/.s.PGSQL.{parts.get('port') or 5432}"
        self._ignores = ignores
        self._all = [Session(path, parts["user"], parts["dbname"], query) for _ in range(sessions)]
        self._free: queue.Queue[Session] = queue.Queue()
        for session in self._all:
            self._free.put(session)
        self._clients: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.conninfo = f"host=127.0.0.1 port={port} dbname={parts['dbname']} user={parts['user']}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        for one in (self._listening, *self._clients, *(s.socket for s in self._all)):
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                self._clients.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, ValueError), client:
            asked = self._startup(client)
            if strange := asked.keys() - KNOWN - self._ignores:
                text = f"unsupported startup parameter: {strange.pop()}"
                fields = f"SFATAL\0VFATAL\0C08P01\0M{text}\0\0".encode()
                client.sendall(message(b"E", fields))
                return
            client.sendall(self._all[0].greeting)
            rest = b""
            while data := client.recv(65536):
                rest = self._transaction(client, rest + data)

    def _startup(self, client: socket.socket) -> dict[str, str]:
        while True:
            size, code = struct.unpack("!II", _exactly(client, 8))
            body = _exactly(client, size - 8)
            if code not in (SSL_REQUEST, GSS_REQUEST):
                words = body.decode().split("\0")
                return {k.lower(): v for k, v in zip(words[::2], words[1::2], strict=False) if k}
            client.sendall(b"N")

    def _transaction(self, client: socket.socket, data: bytes) -> bytes:
        """Lend a session until it is idle and owes nothing; answers an unfinished message."""
        session = self._free.get()
        try:
            rest = _forward(session, data)
            while session.owes or not session.idle:
                ready, _, _ = select.select([client, session.socket], [], [])
                if session.socket in ready:
                    client.sendall(session.receive())
                if client in ready:
                    more = client.recv(65536)
                    if not more:
                        raise ValueError("a client left in a transaction")
                    rest = _forward(session, rest + more)
            return rest
        finally:
            self._free.put(session)


def _forward(session: Session, data: bytes) -> bytes:
    """Send whole messages on; each Query and Sync makes the session owe one answer."""
    end = owes = 0
    while len(data) - end >= 5 and len(data) - end > (size := _size(data[end:])):
        kind = data[end : end + 1]
        if kind == b"X":
            raise ValueError("the client says goodbye")
        owes += kind in (b"Q", b"S")
        end += size + 1
    session.send(data[:end], owes=owes)
    return data[end:]


def _size(data: bytes) -> int:
    return int(struct.unpack("!I", data[1:5])[0])


def _exactly(client: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = client.recv(size - len(data))
        if not more:
            raise ValueError("the client left")
        data += more
    return data
