"""Bills are paid once, wherever the server is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from cookbooks.payments.service import PaymentService
from tests.logs import query
from tests.servers import ROOT, Server, until

ASKED = "pay 40 to Ann"
PAID = {"amount": 40, "payee": "Ann"}


class Hooked(PaymentService):
    """Does something once, at one stage of its work."""

    def __init__(self, stage: str) -> None:
        super().__init__(port=0)
        self.stage = stage
        self.act: Callable[[], None] = lambda: None
        self._acted = False

    def at(self, stage: str) -> None:
        if stage == self.stage and not self._acted:
            self._acted = True
            self.act()


@pytest.fixture
def service(request: pytest.FixtureRequest) -> Iterator[Hooked]:
    with Hooked(request.param) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        yield service
        service.shutdown()


@pytest.fixture
def server(service: Hooked, database_url: str, tmp_path: Path) -> Iterator[Server]:
    running = Server(
        ROOT / "cookbooks" / "payments" / "langgraph.json",
        database_url=database_url,
        env={"PAYMENT_SERVICE": service.url},
        log=tmp_path / "server.log",
    )
    yield running.start()
    running.close()


def ask(server: Server) -> str:
    """Asks for the payment in the background; the response's id."""
    body = {"model": "agent", "input": ASKED, "background": True}
    return str(httpx.post(f"{server.url}/v1/responses", json=body).json()["id"])


def answered(server: Server, response_id: str) -> str:
    """What the agent says when it is done."""
    path = f"{server.url}/v1/responses/{response_id}"

    def done() -> bool:
        return bool(httpx.get(path).json()["status"] == "completed")

    until(done, "the response is completed", 40)
    return str(httpx.get(path).json()["output"][-1]["content"][0]["text"])


@pytest.mark.parametrize("service", ["received", "charged", "answered"], indirect=True)
def test_a_server_killed_while_it_pays_pays_once(service: Hooked, server: Server) -> None:
    asked, killed = Event(), Event()

    def kill() -> None:
        asked.wait(20)
        server.kill()
        killed.set()

    service.act = kill
    response_id = ask(server)
    asked.set()
    assert killed.wait(20)
    server.start()
    assert answered(server, response_id) == "Paid 40 to Ann, receipt 1."
    assert service.payments == [PAID]


@pytest.mark.parametrize("service", [""], indirect=True)
@pytest.mark.parametrize("status", ["pending", "confirmed"])
def test_a_server_killed_around_the_payment_pays_once(
    service: Hooked, server: Server, database_url: str, status: str
) -> None:
    ledger = f"SELECT 1 FROM tool_calls WHERE status IN ('{status}', 'confirmed')"
    response_id = ask(server)
    until(lambda: bool(query(database_url, ledger)), f"the call is {status}")
    server.kill()
    server.start()
    assert answered(server, response_id) == "Paid 40 to Ann, receipt 1."
    assert service.payments == [PAID]


@pytest.mark.parametrize("service", [""], indirect=True)
def test_two_payments_are_two_payments(service: Hooked, server: Server) -> None:
    first, second = answered(server, ask(server)), answered(server, ask(server))
    assert (first[-10:], second[-10:]) == ("receipt 1.", "receipt 2.")
    assert service.payments == [PAID, PAID]
