"""The OpenAPI document, and pages to read it with: ``/openapi.json``, ``/docs``, ``/redoc``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

DOCUMENT = "/openapi.json"
PAGES = {"/docs": "get_swagger_ui_html", "/redoc": "get_redoc_html"}


def routes(title: str, document: Callable[[], Mapping[str, Any]]) -> list[BaseRoute]:
    """What shows ``document``."""

    async def whole(request: Request) -> Response:
        return JSONResponse(document())

    async def page(request: Request) -> Response:
        root = request.scope.get("root_path", "").rstrip("/")
        # FastAPI's, and only here: importing it takes as long as starting a database.
        pages = await asyncio.to_thread(import_module, "fastapi.openapi.docs")
        make = getattr(pages, PAGES[request.url.path.removeprefix(root)])
        found: Response = make(openapi_url=root + DOCUMENT, title=title)
        return found

    return [Route(DOCUMENT, whole), *(Route(path, page) for path in PAGES)]
