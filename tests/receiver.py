"""Somebody who is called by webhooks: a real HTTP server that notes what it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import until


@dataclass(frozen=True)
class Call:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        return json.loads(self.body)


class Receiver:
    """Answers with the next of ``answers``, then with 200."""

    def __init__(self, port: int, *answers: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.calls: list[Call] = []
        self.answers = list(answers)

    def heard(self, count: int) -> list[Call]:
        """Wait for so many calls."""
        until(lambda: len(self.calls) >= count, f"{count} calls of the webhook")
        return self.calls


@contextmanager
def receiver(*answers: int, port: int = 0) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = listening.answers.pop(0) if listening.answers else 200
            listening.calls.append(Call(self.path, dict(self.headers.items()), body))
            self.send_response(status)
            if status == 302:
                self.send_header("Location", listening.url + "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        listening = Receiver(server.server_address[1], *answers)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield listening
        finally:
            server.shutdown()
            thread.join()
