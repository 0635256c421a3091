"""Which recorded exchanges there are, so that none is dropped unseen.

An exchange is named by its file and its place in it; notes between exchanges have places too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

RECORDED = {
    "assistants": "1-6 8-12 14-16 18-23 25-26 28-29 31-41 43",
    "cancels": (
        "0 2 4 6-10 12-13 15 17 19-23 25-26 28 30 32-36 38-39 41 43 45-49 51-53 55-60 62-68 70-71"
        " 73-76 78 80 82 84-85 87-88 90 92 94"
    ),
    "cancels_running": (
        "0-1 3 5 7 9 11 13-14 16-19 21 23-24 26-28 30 32 34 36 38-39 41 43-46 48 50-51 53-55 57 59"
        " 61 63 65-66 68 70-73 75 77-78 80-82 84 86 88 90 92-93 95 97-100 102 104-105 107"
    ),
    "crons": "0 2 4 6 8 10-16 18-19",
    "heartbeats": "0 2-4 6",
    "interrupts": (
        "0 2-6 8-10 12 14-15 17-19 21-23 25-28 30-31 33 35-36 38-42 44-45 47-49 51-53 55"
    ),
    "join_streams": (
        "0-1 3 5-6 8-9 11-12 14-15 17-18 20-22 24 26-27 29-30 32-33 35-36 38-39 41-42 44-45 47-49"
        " 51 53 55-57 59 61 63-65 67 69 71-74 76-77"
    ),
    "meta": "0-6",
    "misc": "0 2-3 5-6 8 10",
    "misc2": "0 2 4 6 8 10",
    "multitask": (
        "0 2 4 6 8-9 11-15 17 19 21 23-24 26-30 32 34 36 38-39 41-45 47 49 51 53-54 56-60 62 64 66"
        " 68-69 71-76 78 80 82"
    ),
    "multitask_running": (
        "0-1 3 5 7 9 11-12 14-19 21 23 25 27 29-30 32-37 39 41 43 45 47-48 50-55 57 59 61 63 65-66"
        " 68-73 75 77 79 81-82 84 86-91 93 95 97 99 101 103-104"
    ),
    "runs_basic": (
        "0 2-3 5 7-9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51-55 57 59 61-63"
        " 65 67-69 71 73 75 77 79-80 82 84-86 88-89"
    ),
    "store": "0-2 4-6 8-11 13-14 16 18 20 22",
    "streams": (
        "0 2-4 6-8 10-12 14-16 18-20 22-24 26-28 30-32 34-36 38-40 42-44 46-48 50-53 55-57 59 61-62"
    ),
    "sysdel": "0 2-3 5",
    "thread_stream": "0 2-5 7-9 11 13",
    "threads": (
        "1 3 5 7 9 11-12 14-20 22 24-26 28-29 31 33 35 37 39-42 44 46 48 50 52 54 56 58-65 67 69"
        " 71-72 74-76 78 80-81 83 85 87"
    ),
    "ttl_cfg": "1-2 4 6",
    "webhooks": "0 2 4 6 8 10 12 14 16 18",
    "webhooks_default": "0 2 4 6 8 10 12 14 16 18",
}
Exchange = tuple[str, int]
SHOWN_BY_TESTS: set[Exchange] = set()


def shows(seen: str) -> Callable[[Any], Any]:
    """Marks a test that makes recorded exchanges by itself."""
    SHOWN_BY_TESTS.update(exchanges(seen))
    return lambda test: test


def exchanges(seen: str) -> Iterable[Exchange]:
    """``file 1 4-6, other 2`` as pairs of a file and a place."""
    for part in filter(None, seen.split(",")):
        file, *places = part.split()
        for place in places:
            first, _, last = place.partition("-")
            yield from ((file, number) for number in range(int(first), int(last or first) + 1))


def recorded() -> set[Exchange]:
    return {each for file, places in RECORDED.items() for each in exchanges(f"{file} {places}")}
