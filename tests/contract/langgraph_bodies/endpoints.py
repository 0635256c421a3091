"""The endpoints, found in the app itself: a new one is tried without anybody thinking of it."""

from __future__ import annotations

import re
from typing import Any, cast

from starlette.routing import Mount, Route

from protocol_adapter.app import create_app
from tests.protocol_adapter.engine import ScriptedEngine

OF_RUNS = ("/threads/{thread}/runs", "/threads/{thread}/runs/stream", "/threads/{thread}/runs/wait")
STATELESS = ("/runs", "/runs/stream", "/runs/wait")
WITHOUT_BODY = ["/threads/{thread}/runs/{run}/cancel", "/threads/{thread}/copy"]
TAKES_LISTS = ["/runs/batch"]
DELETES_BY_BODY = ["/store/items"]
NAMES = {
    "thread_id": "{thread}",
    "run_id": "{run}",
    "assistant_id": "{assistant}",
    "cron_id": "{cron}",
}


def endpoints() -> list[tuple[str, str]]:
    """Every method and path of this door that takes a body."""
    app = create_app(cast(Any, ScriptedEngine()))
    doors = [route for mount in app.routes if isinstance(mount, Mount) for route in mount.routes]
    found = []
    for route in doors:
        assert isinstance(route, Route)
        path = re.sub(r"\{(\w+)\}", lambda name: NAMES.get(name[1], "x"), route.path)
        taking = {"POST", "PUT", "PATCH", *(["DELETE"] if path in DELETES_BY_BODY else [])}
        methods = taking & (route.methods or set())
        if path not in WITHOUT_BODY and not path.startswith(("/responses", "/v1")):
            found += [(method, path) for method in sorted(methods)]
    return found


WITH_BODY = endpoints()
