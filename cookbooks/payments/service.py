"""A payment service that knows idempotency keys: ``python -m cookbooks.payments.service``."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any


class PaymentService(ThreadingHTTPServer):
    """Keeps every payment that was made. ``at`` is told where in its work it is; tests hang on."""

    daemon_threads = True

    def __init__(self, port: int = 2030) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.payments: list[dict[str, Any]] = []
        self._receipts: dict[str, int] = {}
        self._lock = Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def at(self, stage: str) -> None:
        """``received``, ``charged`` or ``answered``."""

    def charge(self, key: str, order: dict[str, Any]) -> int:
        """The receipt; a key that was used before gets the one it had."""
        with self._lock:
            if key not in self._receipts:
                self.payments.append(order)
                self._receipts[key] = len(self.payments)
            return self._receipts[key]


class _Handler(BaseHTTPRequestHandler):
    server: PaymentService

    def do_POST(self) -> None:
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.at("received")
        receipt = self.server.charge(self.headers["Idempotency-Key"], order)
        self.server.at("charged")
        body = json.dumps({"receipt": receipt}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.server.at("answered")

    def log_message(self, format: str, *args: Any) -> None:
        """Payments are told by ``charge`` alone."""


if __name__ == "__main__":
    with PaymentService() as service:
        print(f"Payments at {service.url}/payments")
        service.serve_forever()
