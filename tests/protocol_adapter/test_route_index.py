"""Only a quicker router: it answers every path as one that tries all routes in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from protocol_adapter.route_index import RouteIndex
from tests.property.laws import law

PATHS = [
    "/threads",
    "/threads/search",
    "/threads/{id}",
    "/threads/{id}/runs",
    "/threads/{id}/runs/wait",
    "/threads/{id}/runs/{run}",
    "/runs/{run}",
    "/runs/{run:int}/stream",
    "/{any}/copy",
    "/files/{rest:path}",
    "/",
]
METHODS = ("GET", "POST")


def routes() -> list[BaseRoute]:
    """Each answers its own path and what it has taken out of the one asked for."""
    plain: list[BaseRoute] = [
        Route(path, _telling(f"{method} {path}"), methods=[method])
        for path in PATHS
        for method in METHODS
        if (method, path) not in {("POST", "/threads/{id}"), ("GET", "/threads/search")}
    ]
    mounted = Mount("/mounted", routes=[Route("/threads/{id}", _telling("mounted"))])
    return [*plain[:7], mounted, *plain[7:]]


def _telling(name: str) -> Any:
    async def told(request: Request) -> Response:
        return PlainTextResponse(f"{name} {request.path_params}")

    return told


def answers(app: ASGIApp, method: str, path: str, root: str) -> tuple[int, str, str | None]:
    client = TestClient(app, root_path=root, follow_redirects=False)
    answer = client.request(method, f"http://testserver{path}")
    return answer.status_code, answer.text, answer.headers.get("location")


NAMES = st.sampled_from(
    ["threads", "search", "runs", "wait", "7", "x", "copy", "files", "mounted", "thread", ""]
)


@settings(law)
@given(
    names=st.lists(NAMES, max_size=6),
    method=st.sampled_from([*METHODS, "DELETE", "HEAD"]),
    root=st.sampled_from(["", "/threads", "/thr", "/mounted"]),
)
def test_every_path_is_answered_as_by_a_router_that_tries_all(
    names: Sequence[str], method: str, root: str
) -> None:
    path = "/" + "/".join(names)
    assert answers(RouteIndex(routes()), method, path, root) == answers(
        Router(routes()), method, path, root
    )


def test_the_paths_of_other_shapes_are_not_tried() -> None:
    tried: list[str] = []

    class Watched(Route):
        def matches(self, scope: Any) -> Any:
            tried.append(self.path)
            return super().matches(scope)

    app = RouteIndex([Watched(path, _telling(path)) for path in PATHS])
    assert answers(app, "GET", "/threads/1/runs/2", "")[0] == 200
    assert tried == ["/threads/{id}/runs/wait", "/threads/{id}/runs/{run}"]
