"""Bodies made at random, most of them nearly right."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.contract.badness import bodies, texts, values
from tests.contract.langgraph_bodies.endpoints import OF_RUNS, STATELESS

objects = st.dictionaries(texts, values, max_size=3)
place = st.fixed_dictionaries({}, optional={"checkpoint_id": texts, "checkpoint_ns": texts})
ADDRESSES = ["http://127.0.0.1:1/", "http://[::1]/", "//a", "file:///a", "http://a\x00b/", "http:"]
search = {
    "metadata": objects,
    "limit": st.integers(0, 20),
    "offset": st.integers(0, 20),
    "select": st.lists(texts, max_size=2),
    "sort_by": st.sampled_from(["status", "name", "created_at"]),
    "sort_order": st.sampled_from(["asc", "desc"]),
}
asked = {
    "command": st.fixed_dictionaries(
        {},
        optional={
            "resume": values,
            "update": objects,
            "goto": st.sampled_from(["echo", "nope", {"node": "echo", "input": {}}]),
        },
    ),
    "config": st.fixed_dictionaries(
        {},
        optional={
            "configurable": objects,
            "metadata": objects,
            "recursion_limit": st.integers(1, 50),
        },
    ),
    "context": objects,
    "metadata": objects,
    "stream_mode": st.sampled_from(["values", "messages", ["updates", "debug"], "events", []]),
    "stream_subgraphs": st.booleans(),
    "interrupt_before": st.sampled_from(["*", ["echo"], ["nope"], "nope"]),
    "interrupt_after": st.sampled_from(["*", ["echo"]]),
    "checkpoint": place,
    "durability": st.sampled_from(["sync", "async", "exit"]),
    "multitask_strategy": st.sampled_from(["enqueue", "reject", "interrupt", "rollback"]),
    "if_not_exists": st.sampled_from(["create", "reject"]),
    "on_completion": st.sampled_from(["keep", "delete"]),
    "webhook": st.one_of(texts, st.sampled_from(ADDRESSES)),
    "after_seconds": st.floats(0, 0.01),
    "strict_resume": st.booleans(),
}
assistant = {
    "name": texts,
    "description": texts,
    "metadata": objects,
    "config": st.fixed_dictionaries({}, optional={"configurable": objects, "metadata": objects}),
    "context": objects,
}
labels = st.lists(st.sampled_from(["a", "b", "\x00", "😀", "a.b", ""]), max_size=3)
cron = {
    **{key: asked[key] for key in ("config", "context", "metadata", "stream_mode", "durability")},
    "timezone": st.one_of(texts, st.sampled_from(["Europe/Rome", "UTC"])),
    "end_time": st.one_of(texts, st.datetimes().map(str)),
    "enabled": st.booleans(),
    "on_run_completed": st.sampled_from(["keep", "delete"]),
}
schedules = st.sampled_from(["0 0 1 1 *", "0 0 29 2 *", "0 0 L 12 *", "0 0 1 1 mon#1"])
steps = st.fixed_dictionaries(
    {
        "updates": st.lists(
            st.fixed_dictionaries(
                {"values": objects},
                optional={
                    "as_node": st.sampled_from(["echo", "nope"]),
                    "command": asked["command"],
                },
            ),
            max_size=2,
        )
    }
)
commands = st.fixed_dictionaries(
    {},
    optional={
        "assistant_id": st.just("echo"),
        **{key: asked[key] for key in ("config", "metadata", "multitask_strategy")},
        "input": values,
        "interrupt_id": texts,
        "response": values,
        "responses": st.lists(objects, max_size=2),
        "checkpoint_id": texts,
        "namespace": st.lists(texts, max_size=2),
        "keys": st.lists(texts, max_size=2),
        "limit": st.integers(0, 20),
        "before": texts,
    },
)
RUN_BODIES = bodies(asked, assistant_id=st.just("echo"), input=objects)
BODIES: dict[tuple[str, str], st.SearchStrategy[bytes]] = {
    ("POST", "/assistants/search"): bodies({**search, "graph_id": texts, "name": texts}),
    ("POST", "/assistants/count"): bodies({"metadata": objects, "graph_id": texts, "name": texts}),
    ("POST", "/assistants"): bodies(
        {
            **assistant,
            "assistant_id": texts,
            "if_exists": st.sampled_from(["raise", "do_nothing"]),
        },
        graph_id=st.just("echo"),
    ),
    ("PATCH", "/assistants/{assistant}"): bodies({**assistant, "graph_id": st.just("echo")}),
    ("POST", "/assistants/{assistant}/versions"): bodies({**search}),
    ("POST", "/assistants/{assistant}/latest"): bodies({}, version=st.integers(-1, 9)),
    ("PUT", "/store/items"): bodies(
        {"ttl": st.floats(0.1, 9), "index": st.one_of(st.booleans(), st.lists(texts, max_size=2))},
        namespace=labels,
        key=texts,
        value=objects,
    ),
    ("DELETE", "/store/items"): bodies({}, namespace=labels, key=texts),
    ("POST", "/store/items/search"): bodies(
        {**search, "query": texts, "filter": objects, "refresh_ttl": st.booleans()},
        namespace_prefix=labels,
    ),
    ("POST", "/store/namespaces"): bodies(
        {"prefix": labels, "suffix": labels, "max_depth": st.integers(0, 3), **search}
    ),
    ("POST", "/runs/crons"): bodies(cron, assistant_id=st.just("echo"), schedule=schedules),
    ("POST", "/threads/{thread}/runs/crons"): bodies(
        cron, assistant_id=st.just("echo"), schedule=schedules
    ),
    ("PATCH", "/runs/crons/{cron}"): bodies({**cron, "schedule": schedules}),
    ("POST", "/runs/crons/search"): bodies(
        {**search, "assistant_id": texts, "thread_id": texts, "enabled": st.booleans()}
    ),
    ("POST", "/runs/batch"): st.lists(RUN_BODIES, max_size=3).map(
        lambda each: b"[" + b",".join(each) + b"]"
    ),
    ("POST", "/runs/crons/count"): bodies(
        {"assistant_id": texts, "thread_id": texts, "metadata": objects, "enabled": st.booleans()}
    ),
    ("POST", "/runs/cancel"): bodies(
        {"status": st.sampled_from(["pending", "running", "all"])},
        thread_id=texts,
        run_ids=st.lists(texts, max_size=3),
    ),
    ("POST", "/threads/prune"): bodies(
        {"strategy": st.sampled_from(["delete", "keep_latest"])},
        thread_ids=st.lists(texts, max_size=3),
    ),
    ("POST", "/threads/{thread}/stream/events"): bodies(
        {
            "namespaces": st.lists(st.lists(texts, max_size=2), max_size=2),
            "depth": st.integers(0, 3),
            "since": st.integers(0, 2**53),
        },
        channels=st.lists(
            st.sampled_from(["values", "messages", "lifecycle", "custom:a", "custom:", "nope"]),
            max_size=3,
        ),
    ),
    ("POST", "/threads/{thread}/commands"): bodies(
        {"params": commands},
        id=st.integers(0, 2**53),
        method=st.sampled_from(
            ["run.start", "input.respond", "state.get", "state.listCheckpoints", "state.fork"]
        ),
    ),
    ("POST", "/threads"): bodies(
        {
            "thread_id": texts,
            "metadata": objects,
            "ttl": st.one_of(st.floats(0.1, 9), st.just({"ttl": 1, "strategy": "keep_latest"})),
            "supersteps": st.lists(steps, max_size=2),
            "if_exists": st.sampled_from(["raise", "do_nothing"]),
        }
    ),
    ("POST", "/threads/search"): bodies(
        {
            **search,
            "values": objects,
            "status": st.sampled_from(["idle", "busy"]),
            "ids": st.lists(texts, max_size=3),
            "extract": st.dictionaries(texts, texts, max_size=3),
        }
    ),
    ("POST", "/threads/count"): bodies({"metadata": objects, "values": objects}),
    ("PATCH", "/threads/{thread}"): bodies({"metadata": objects}),
    ("POST", "/threads/{thread}/state"): bodies(
        {"values": objects, "as_node": st.just("echo"), "checkpoint": place}
    ),
    ("POST", "/threads/{thread}/state/checkpoint"): bodies(
        {"checkpoint": place, "subgraphs": st.booleans(), "select": st.just(["values"])}
    ),
    ("POST", "/threads/{thread}/history"): bodies(
        {
            "limit": st.integers(1, 5),
            "before": texts,
            "metadata": objects,
            "checkpoint": place,
        }
    ),
    **{("POST", path): RUN_BODIES for path in (*OF_RUNS, *STATELESS)},
}
ANY_BODY = bodies({**search, "thread_id": texts, "status": texts, "run_ids": st.lists(texts)})
