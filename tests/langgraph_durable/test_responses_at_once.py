"""A Response is stored once, however many make it at the same moment."""

from __future__ import annotations

import asyncio

from tests.conftest import MakeEngine
from tests.graphs import chain, run, says
from tests.logs import query

ROUNDS = 60
AT_ONCE = 8


async def test_all_read_what_the_first_has_stored(
    make_engine: MakeEngine, database_url: str
) -> None:
    engine = await make_engine(chain(n=says("done")), pool_size=AT_ONCE)
    made = await run(engine, input={"said": []})
    for _ in range(ROUNDS):
        told = await asyncio.gather(
            *[
                engine.save_response("resp_1", run_id=made.run_id, terminal=str(n), item_ids=["i"])
                for n in range(AT_ONCE)
            ]
        )
        assert len(set(told)) == 1
        gone = query(database_url, "DELETE FROM responses RETURNING response_id, terminal")
        assert gone == [{"response_id": "resp_1", "terminal": told[0]}]
