"""Whatever the installed SDK can send acts, is refused, or is on the short list of inert keys."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.contract.drift import PARTS
from tests.contract.drift.proving import PROOFS, Place, Proof, World
from tests.contract.drift.wire import (
    changed,
    everything,
    methods,
    parameters,
    required,
    sent,
    variants,
)
from tests.contract.test_endpoints import ENDPOINTS
from tests.receiver import receiver
from tests.servers import Server

INERT = {"body.feedback_keys", "body.langsmith_tracer", "body.stream_resumable"}
"""Keys that do nothing, by decision: the list is closed."""
CARRIED_ALONG = {"header.x-probe", "query.probe"}
"""What ``headers`` and ``params`` add: the caller's own, taken along and ignored."""
CLIENT_SIDE = {
    "assistants.search response_format": "how the client shows a page",
    "runs.create on_run_created": "a callback that reads Content-Location",
    "runs.stream on_run_created": "a callback that reads Content-Location",
    "runs.stream version": "how the client shows the parts",
    "runs.wait on_run_created": "a callback that reads Content-Location",
    "runs.wait raise_error": "whether the client raises what __error__ says",
}
"""Parameters that change nothing of the request; that is checked."""
OTHERWISE = {"threads.stream"}
"""A session of many requests; see ``test_sdk_drift_sessions``."""
METHODS = [method for method in methods() if method not in OTHERWISE]
for part in PARTS:
    import_module(f"tests.contract.drift.{part}")


@pytest.fixture
def world(client: LangGraphClient, http: httpx.AsyncClient, server: Server) -> Iterator[World]:
    with receiver() as hook:
        yield World(client, http, hook, server.database_url)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
async def test_it_acts_or_is_refused(world: World, proof: Proof) -> None:
    assert proof.places
    await proof.run(world)


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_is_sent_or_known_to_stay_at_the_client(method: str) -> None:
    silent = {
        f"{method} {parameter}"
        for parameter in set(parameters(method)) - required(method)
        if not any(changed(sent(method, v), sent(method, v, parameter)) for v in variants(method))
    }
    assert silent == {each for each in CLIENT_SIDE if each.split()[0] == method}


@pytest.mark.parametrize("method", METHODS)
def test_both_clients_send_the_same(method: str) -> None:
    for variant in variants(method):
        for parameter in (None, *parameters(method)):
            both = [sent(method, variant, parameter, sync) for sync in (False, True)]
            assert both[0] == both[1], parameter


@pytest.mark.parametrize("method", METHODS)
def test_every_method_goes_to_a_known_endpoint(method: str) -> None:
    unknown = {request.endpoint for request in everything(method)} - ENDPOINTS
    assert not unknown, f"{method} goes where no test of an endpoint is: {unknown}"


@pytest.mark.parametrize("method", METHODS)
def test_everything_that_a_method_sends_is_proven(method: str) -> None:
    open_places = places_of(method) - proven()
    assert not open_places, f"no proof that these act or are refused: {sorted(open_places)}"


def test_every_proof_is_for_something_that_is_sent() -> None:
    all_sent = {place for method in METHODS for place in places_of(method)}
    assert proven() <= all_sent


def proven() -> set[Place]:
    return {place for proof in PROOFS for place in proof.places}


def places_of(method: str) -> set[Place]:
    """What the method sends, without names in the path and what is said to be inert."""
    known = INERT | CARRIED_ALONG
    return {
        (request.endpoint, carried)
        for request in everything(method)
        for carried in request.carried
        if carried not in known and not carried.startswith("path.")
    }
