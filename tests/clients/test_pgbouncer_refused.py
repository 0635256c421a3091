"""Poolers that cannot be worked with are refused at the start, with what is missing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.clients.conftest import MakePooler
from tests.clients.pgbouncer import CONNECT_QUERY
from tests.conftest import MakeServer
from tests.servers import Server

NOTHING: tuple[str, ...] = ()
DIRECT = "name PostgreSQL itself in DATABASE_DIRECT_URL"


def refusal(server: Server) -> str:
    """The last line of a server that does not start."""
    assert server.process is not None
    assert server.process.wait(30) == 1
    told = server.log.read_text()
    assert "Traceback" not in told
    return told.splitlines()[-1]


@pytest.mark.parametrize("command", ["dev", "serve", "worker"])
async def test_a_pooler_alone_is_refused_at_the_start(
    make_pooler: MakePooler, make_server: MakeServer, command: str
) -> None:
    url = make_pooler().conninfo
    server = make_server("basic", database_url=url, command=command).start(wait=False)
    assert DIRECT in await asyncio.to_thread(refusal, server)


async def test_a_pooler_alone_that_takes_no_options_is_refused_in_the_same_words(
    make_pooler: MakePooler, make_server: MakeServer
) -> None:
    url = make_pooler(options=NOTHING).conninfo
    server = make_server("basic", database_url=url).start(wait=False)
    assert DIRECT in await asyncio.to_thread(refusal, server)


async def test_a_pooler_in_the_place_of_the_direct_address_is_refused(
    make_pooler: MakePooler, make_server: MakeServer
) -> None:
    url = make_pooler().conninfo
    env = {"DATABASE_DIRECT_URL": url}
    server = make_server("basic", database_url=url, env=env).start(wait=False)
    told = await asyncio.to_thread(refusal, server)
    assert "direct_database_url: has to name PostgreSQL itself;" in told


@pytest.mark.parametrize(
    "unlike",
    [
        {"options": NOTHING, "connect_query": "SELECT 1"},
        {"connect_query": "SELECT 1"},
        {"mode": "session"},
    ],
    ids=["takes-no-options", "no-search-path", "session-mode"],
)
async def test_a_pooler_that_is_not_set_up_is_refused_with_what_it_needs(
    make_pooler: MakePooler, make_server: MakeServer, database_url: str, unlike: dict[str, Any]
) -> None:
    url = make_pooler(**unlike).conninfo
    env = {"DATABASE_DIRECT_URL": database_url}
    server = make_server("basic", database_url=url, env=env).start(wait=False)
    told = await asyncio.to_thread(refusal, server)
    assert "pool_mode = transaction" in told
    assert f"connect_query = '{CONNECT_QUERY}'" in told
    assert ("unsupported startup parameter: options" in told) == ("options" in unlike)


async def test_a_pooler_in_session_mode_alone_is_refused_since_it_drops_what_was_asked_for(
    make_pooler: MakePooler, make_server: MakeServer
) -> None:
    url = make_pooler(mode="session").conninfo
    server = make_server("basic", database_url=url).start(wait=False)
    assert DIRECT in await asyncio.to_thread(refusal, server)
