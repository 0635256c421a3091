"""What the crowd does: every conversation is drawn from the seed, its client and its number."""

from __future__ import annotations

import random
from dataclasses import dataclass

DOORS = {"langgraph": 40, "sdk": 14, "responses": 28, "invocations": 18}
MODES = ("values", "updates", "custom", "messages-tuple", "tasks", "checkpoints", "debug")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A graph: the ``items`` that one turn of it leaves (an answer stands behind ``=``), how it
    ends, how often it is chosen, and whether its order is fixed."""

    items: tuple[str, ...]
    error: str | None = None
    weight: float = 10
    asks: int = 0


GRAPHS = {
    "chain": Shape(items=("one", "two", "three", "say"), weight=16),
    "chatter": Shape(items=("loud", "louder", "say"), weight=10),
    # The subgraph hands back what it was given, and its parent adds it.
    "nested": Shape(items=("before", "before", "in1", "in2", "after", "say")),
    "parallel": Shape(items=("left", "middle", "right", "say")),
    "sends": Shape(items=("begin", "b0", "b1", "b2", "b3", "say")),
    "question": Shape(items=("ask=", "then", "say"), asks=1),
    "questions": Shape(items=("ask1=", "ask2=", "say"), weight=6, asks=2),
    "waiting": Shape(items=("nap", "hear", "say"), weight=8),
    "detour": Shape(items=(), error="RuntimeError", weight=4),
    "exiting": Shape(items=(), error="MaxAttemptsExceeded", weight=0.4),
    "function": Shape(items=("prepare", "finish"), weight=8),
    "pay_retry": Shape(items=("think", "paid", "say"), weight=6),
    "pay_ask": Shape(items=("think", "paid", "say"), weight=6),
    "pay_log": Shape(items=("think", "paid", "say"), weight=6),
    "shopping": Shape(items=("shop", "say"), weight=6),
}
LONELY = ("exiting", "function")
"""Graphs whose threads see one turn: the state does not add up over turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing a client says. ``leaves_after`` are how many frames it reads on each connection
    before it hangs up by itself (then it reads to the end); ``cancels_after`` frames it wants the
    run stopped. ``fetches`` asks first and reads later, from the start."""

    nonce: str
    leaves_after: tuple[int, ...]
    cancels_after: int | None
    fetches: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One conversation. ``crowded`` turns are said all at once."""

    door: str
    graph: str
    thread_id: str
    turns: tuple[Turn, ...]
    crowded: bool
    modes: tuple[str, ...]
    subgraphs: bool
    seed: str

    @property
    def shape(self) -> Shape:
        """What is expected of its graph."""
        return GRAPHS[self.graph]


def plan(seed: int, client: int, number: int, *, graphs: tuple[str, ...] = tuple(GRAPHS)) -> Plan:
    """The conversation ``number`` of ``client``."""
    name = f"{seed}-{client}-{number}"
    chance = random.Random(f"plan {name}")
    door = chance.choices(list(DOORS), list(DOORS.values()))[0]
    graph = chance.choices(graphs, [GRAPHS[g].weight for g in graphs])[0]
    alone = graph in LONELY or chance.random() < 0.6
    count = 1 if alone else chance.randint(2, 3)
    crowded = count > 1 and door == "langgraph" and not GRAPHS[graph].asks and graph != "pay_ask"
    return Plan(
        door=door,
        graph=graph,
        thread_id=f"t-{name}",
        turns=tuple(_turn(f"n{name}-{n}", chance, graph) for n in range(count)),
        crowded=crowded and chance.random() < 0.5,
        modes=tuple(sorted(chance.sample(MODES, chance.randint(2, 4)))),
        subgraphs=chance.random() < 0.5,
        seed=name,
    )


def _turn(nonce: str, chance: random.Random, graph: str) -> Turn:
    leaves = tuple(chance.randint(1, 12) for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 3))))
    cancels = graph in ("chain", "chatter", "nested", "sends") and chance.random() < 0.05
    after = chance.randint(1, 6)
    return Turn(
        nonce=nonce,
        leaves_after=(after,) if cancels else leaves,
        cancels_after=after if cancels else None,
        fetches=chance.random() < 0.15,
    )
