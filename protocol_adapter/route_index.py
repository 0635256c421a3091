"""A router of many routes that tries only those that a path can be of."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.convertors import PathConvertor
from starlette.routing import BaseRoute, Route, Router
from starlette.types import Receive, Scope, Send

_Shape = tuple[str, int]
"""The first name of a path, and how many follow."""


class RouteIndex(Router):
    """Routes whose paths begin with a name, by that name and their length; in their order."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        super().__init__(routes)
        shapes = [_of_route(route) for route in routes]
        pairs = list(zip(shapes, routes, strict=True))
        self._of_any_shape = Router([route for own, route in pairs if own is None])
        self._of_shape = {
            shape: Router([route for own, route in pairs if own in (None, shape)])
            for shape in set(shapes)
            if shape is not None
        }

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._of_shape.get(_shape(_below_the_mount(scope)), self._of_any_shape)
        await found(scope, receive, send)


def _below_the_mount(scope: Scope) -> str:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if path == root or path.startswith(f"{root}/") else path


def _of_route(route: BaseRoute) -> _Shape | None:
    """None: it may match paths of any shape."""
    if not isinstance(route, Route):
        return None
    if any(isinstance(each, PathConvertor) for each in route.param_convertors.values()):
        return None
    first, _ = shape = _shape(route.path)
    return None if "{" in first else shape


def _shape(path: str) -> _Shape:
    # A slash too many at the end is for the router to redirect.
    names = path.strip("/").split("/")
    return names[0], len(names) - 1
