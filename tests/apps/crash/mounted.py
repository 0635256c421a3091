"""Three lines of Python: alone, and in somebody's own app, with its lifespan and without."""

from fastapi import FastAPI
from graphs import agent, first, steps  # type: ignore[import-not-found]

from langgraph_durable import DurableServer

server = DurableServer({"steps": steps, "agent": agent, "first": first})

alone = server.app

within = FastAPI(lifespan=server.lifespan)
within.mount("/agent", server.app)

lazy = FastAPI()
lazy.mount("/my/agent", server.app)
