"""The stock ``openai`` client of a server: nothing but the base URL is ours."""

from __future__ import annotations

from typing import Any

import openai
from openai.types.responses import Response

from tests.servers import Server

WEATHER: Any = {"type": "function", "name": "weather", "parameters": {}, "strict": False}
"""A tool that the client runs itself."""


def stock(server: Server, prefix: str = "/v1") -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{server.url}{prefix}", api_key="-", max_retries=0)


async def ended(client: openai.AsyncOpenAI, response: Response) -> Response:
    """The response once its run has ended: its stream is followed to the end."""
    async for _ in await client.responses.retrieve(response.id, stream=True):
        pass
    return await client.responses.retrieve(response.id)


def kinds(response: Response) -> list[str]:
    return [item.type for item in response.output]


def names(items: Any) -> list[str]:
    return [item.to_dict()["id"] for item in items]
