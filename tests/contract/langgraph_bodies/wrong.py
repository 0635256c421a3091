"""Values that the keys of each endpoint do not take."""

from __future__ import annotations

from typing import Any

from tests.contract.langgraph_bodies.endpoints import OF_RUNS, STATELESS

LONG = "".join(chr(0x4E00 + number) for number in range(1500))
"""No index takes it."""

Wrong = tuple[Any, ...]
OBJECT: Wrong = ([1], "text", 1, True)
TEXT: Wrong = ({"a": 1}, [1], 1, True)
FLAG: Wrong = ("true", 1, [], {})
NUMBER: Wrong = ("1", 0, -1, 1001, 1.5, True, [])
PLACE: Wrong = (
    *OBJECT,
    {"checkpoint_id": 5},
    {"checkpoint_id": {"a": 1}},
    {"checkpoint_ns": 5},
    {"checkpoint_map": "x"},
    {"checkpoint_map": {"": 5}},
    {"configurable": 5},
    {"configurable": {"checkpoint_id": 5}},
)
ASKED: dict[str, Wrong] = {
    "assistant_id": (*TEXT, "", None),
    "command": (
        *OBJECT,
        {"update": 5},
        {"update": [["a"]]},
        {"goto": 5},
        {"goto": 0},
        {"goto": False},
        {"goto": {}},
        {"goto": {"input": 1}},
        {"goto": [["a"]]},
        {"graph": "__parent__"},
    ),
    "config": (
        *OBJECT,
        {"configurable": 5},
        {"configurable": {"checkpoint_id": 5}},
        {"metadata": []},
        {"tags": "a"},
        {"tags": [1]},
        {"recursion_limit": "ten"},
        {"recursion_limit": 0},
        {"recursion_limit": 2**40},
    ),
    "context": OBJECT,
    "metadata": OBJECT,
    "checkpoint": PLACE,
    "checkpoint_id": TEXT,
    "stream_mode": (5, {}, [5], "nope", ["values", "nope"]),
    "stream_subgraphs": FLAG,
    "interrupt_before": ({"a": 1}, 5, [5]),
    "interrupt_after": ({"a": 1}, 5, [5]),
    "durability": ("never", 5),
    "checkpoint_during": FLAG,
    "multitask_strategy": ("nope", 5),
    "if_not_exists": ("nope", 5),
    "on_disconnect": ("nope", 5),
    "on_completion": ("nope", 5),
    "webhook": (5, ["a"], "nowhere"),
    "after_seconds": (-1, "5", True),
}
ATTENDED_ONLY = {"on_disconnect"}
PAGE: dict[str, Wrong] = {"limit": NUMBER, "offset": ("1", -1, 2**31, 1.5)}
LABELS: Wrong = ("text", [1], {"a": 1}, 5)
ASSISTANT: dict[str, Wrong] = {
    "graph_id": TEXT,
    "name": TEXT,
    "description": TEXT,
    "config": ASKED["config"],
    "context": OBJECT,
    "metadata": OBJECT,
}
CRON: dict[str, Wrong] = {
    "schedule": (*TEXT, "bad", "60 * * * *", "* * * * * *", "0 0 30 2 *"),
    "timezone": (*TEXT, "Mars/Olympus", "..", "Europe"),
    "end_time": (*TEXT, "soon", "0000-01-01", "9999-12-31T23:59:59-12:00"),
    "enabled": FLAG,
    "on_run_completed": ("nope", 5),
    **{
        key: ASKED[key]
        for key in (
            *("config", "context", "metadata", "stream_mode", "stream_subgraphs", "durability"),
            *("interrupt_before", "interrupt_after", "checkpoint_during"),
        )
    },
}
CRON_PATHS = ("/runs/crons", "/threads/{thread}/runs/crons")
NEVER = "0 0 1 1 *"
SEARCH: dict[str, Wrong] = {
    **PAGE,
    "metadata": OBJECT,
    "select": ("text", [1], ["nope"]),
    "sort_by": (5, "nope"),
    "sort_order": (5, "sideways"),
}
RUN: dict[str, Any] = {"assistant_id": "echo", "input": {"x": 1}}
GOOD: dict[str, dict[str, Any]] = {
    "/assistants": {"graph_id": "echo"},
    "/store/items": {"namespace": ["a"], "key": "k", "value": {}},
    "/store/items/search": {"namespace_prefix": []},
    "/threads": {},
    "/threads/prune": {"thread_ids": []},
    "/threads/{thread}/commands": {"id": 1, "method": "state.get"},
    "/threads/{thread}/stream/events": {"channels": ["values"]},
    "/runs/cancel": {"thread_id": "t", "run_ids": []},
    "/runs/crons/{cron}": {},
    "/runs/crons/search": {},
    "/runs/crons/count": {},
    **{path: {**RUN, "schedule": NEVER} for path in CRON_PATHS},
}
"""Bodies that would do, where it is not that of a run."""

WRONG: dict[tuple[str, str], dict[str, Wrong]] = {
    ("POST", "/assistants/search"): {**SEARCH, "graph_id": TEXT, "name": TEXT},
    ("POST", "/assistants/count"): {"metadata": OBJECT, "graph_id": TEXT, "name": TEXT},
    ("POST", "/threads"): {
        "thread_id": (*TEXT, "", "a/b", "\x01", LONG),
        "metadata": OBJECT,
        "if_exists": (5, "nope"),
        "ttl": ("soon", 0, -1, True, [], {"ttl": "soon"}),
        "supersteps": ("", 0, False, {}, "text", [5]),
    },
    ("POST", "/threads/prune"): {
        "thread_ids": ("text", [1], {}, None),
        "strategy": (5, "nope"),
    },
    ("POST", "/threads/{thread}/commands"): {
        "id": (-1, "1", True, 1.5, None),
        "method": (5, [], None),
    },
    ("POST", "/threads/{thread}/stream/events"): {
        "channels": (5, "values", [5]),
        "namespaces": (0, "", False, {}, 5, [5], ["a"]),
        "depth": ("1", -1, 1.5, True),
        "since": ("1", -1, 1.5, True),
    },
    ("POST", "/threads/search"): {
        **SEARCH,
        "values": OBJECT,
        "status": (5, "", "nope"),
        "ids": ("text", [1]),
        "extract": (*OBJECT, {"a": 1}, {str(n): "values" for n in range(11)}),
    },
    ("POST", "/threads/count"): {"metadata": OBJECT, "values": OBJECT, "status": (5, "", "nope")},
    ("PATCH", "/threads/{thread}"): {"metadata": OBJECT, "ttl": ("soon",)},
    ("POST", "/threads/{thread}/state"): {
        "as_node": TEXT,
        "checkpoint": PLACE,
        "checkpoint_id": TEXT,
    },
    ("POST", "/threads/{thread}/state/checkpoint"): {
        "checkpoint": PLACE,
        "subgraphs": FLAG,
        "select": ("text", [1], ["nope"]),
    },
    ("POST", "/threads/{thread}/history"): {
        "limit": NUMBER,
        "before": (5, [1], True, {"checkpoint_id": 5}, {"configurable": {"checkpoint_id": []}}),
        "metadata": OBJECT,
        "checkpoint": PLACE,
        "select": ("text", [1], ["nope"]),
    },
    ("POST", "/assistants"): {
        **ASSISTANT,
        "graph_id": (*TEXT, "", None),
        "assistant_id": TEXT,
        "if_exists": (5, "nope"),
    },
    ("PATCH", "/assistants/{assistant}"): ASSISTANT,
    ("POST", "/assistants/{assistant}/versions"): {**PAGE, "metadata": OBJECT},
    ("POST", "/assistants/{assistant}/latest"): {"version": ("1", 0, -1, 1.5, True, None)},
    ("PUT", "/store/items"): {
        "namespace": LABELS,
        "key": (*TEXT, None),
        "value": (*OBJECT, None),
        "index": ("text", [1], 5),
        "ttl": ("soon", 0, -1, True, []),
    },
    ("DELETE", "/store/items"): {"namespace": LABELS, "key": (*TEXT, None)},
    ("POST", "/store/items/search"): {
        **PAGE,
        "namespace_prefix": LABELS,
        "query": TEXT,
        "filter": (*OBJECT, {"a": {"$nope": 1}}),
        "refresh_ttl": FLAG,
    },
    ("POST", "/store/namespaces"): {
        **PAGE,
        "prefix": LABELS,
        "suffix": LABELS,
        "max_depth": ("1", 0, 1.5, True),
    },
    **{
        ("POST", path): {
            **CRON,
            "schedule": (*CRON["schedule"], "", None),
            "assistant_id": ASKED["assistant_id"],
            "multitask_strategy": ASKED["multitask_strategy"],
        }
        for path in CRON_PATHS
    },
    ("PATCH", "/runs/crons/{cron}"): CRON,
    ("POST", "/runs/crons/search"): {
        **SEARCH,
        "assistant_id": TEXT,
        "thread_id": TEXT,
        "enabled": FLAG,
    },
    ("POST", "/runs/crons/count"): {
        "metadata": OBJECT,
        "assistant_id": TEXT,
        "thread_id": TEXT,
        "enabled": FLAG,
    },
    ("POST", "/runs/batch"): {key: ASKED[key] for key in ASKED if key not in ATTENDED_ONLY},
    ("POST", "/runs/cancel"): {
        "status": (5, "", "nope"),
        "thread_id": TEXT,
        "run_ids": ("text", [5]),
    },
    **{
        ("POST", path): {
            key: wrong
            for key, wrong in ASKED.items()
            if key not in ATTENDED_ONLY or not path.endswith("/runs")
        }
        for path in (*OF_RUNS, *STATELESS)
    },
}
