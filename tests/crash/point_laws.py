"""The laws of durability at one crash point, each a function from a life to what breaks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from langgraph_durable.serde import decode, encode
from tests.crash.lives import Life
from tests.crash.mortal import Row

RECOVERY = "[RECOVERY]"


def dense(life: Life) -> Iterator[str]:
    """The log is dense, ordered, append-only: what was durable at the crash still begins it."""
    for run in life.runs:
        log = life.logs[run["run_id"]]
        if [event["seq"] for event in log] != list(range(run["next_seq"])):
            yield f"events {[event['seq'] for event in log]}, next_seq {run['next_seq']}"
        attempts = [event["attempt"] for event in log if event["name"] not in ("created", "end")]
        if attempts != sorted(attempts):
            yield f"attempts {attempts}"
    for crash in life.doom.crashes:
        if life.logs[crash.run_id][: len(crash.log)] != crash.log:
            yield "the log has lost or changed what was durable"


def endings(life: Life) -> Iterator[str]:
    """Exactly one terminal event, last, and as the run's status says."""
    for run in life.runs:
        log = life.logs[run["run_id"]]
        ends = [event for event in log if event["name"] == "end"]
        if len(ends) != 1 or log[-1] is not ends[0]:
            yield f"{len(ends)} terminal events, the last event is {log[-1]['name']}"
        elif decode(ends[0]["data"])["status"] != run["status"]:
            yield f"is {run['status']}, its log says {ends[0]['data']}"


def outcomes(life: Life) -> Iterator[str]:
    """Runs and thread end as they would have, undisturbed."""
    program, thread = life.program, life.thread
    for run, turn in zip(life.runs, program.turns, strict=True):
        message = decode(run["error"])["message"] if run["error"] else None
        if (run["status"], message) != (turn.status, turn.error):
            yield f"a run is {run['status']} ({run['error']}), not {turn.status}"
    assert thread is not None
    if program.turns[-1].cancels and _begun_anew(life):
        return  # it may have been stopped anywhere on its new way
    if thread.status != program.status:
        yield f"the thread is {thread.status}, not {program.status}"
    if (now := _items(life)) not in (list(program.items), _without(program.items, program.unsure)):
        yield f"its items are {now}, not {program.items}"
    if (said := _messages(life)) != _expected_messages(life):
        yield f"its messages are {said}"
    if _without(life.state.next if life.state else (), program.unsure) != list(program.next):
        yield f"next is {life.state.next}"


def threads(life: Life) -> Iterator[str]:
    """The thread's row agrees with its checkpoint; nobody holds it."""
    assert life.thread is not None
    values = decode(encode(life.state.values)) if life.state else None
    held = decode(life.thread.values) if life.thread.values else None
    if (held or None) != (values or None) and not _ended_by_others(life):
        yield f"its thread holds {life.thread.values}, its checkpoint {values}"
    listed = {q["id"] for questions in life.thread.interrupts.values() for q in questions}
    pending = {q.id for q in life.state.interrupts} if life.state else set()
    if listed != pending:
        yield f"its thread lists questions {listed}, its checkpoint {pending}"


def crashes(life: Life) -> Iterator[str]:
    """A crash counts once, and not at all behind a step; it is told once."""
    for run in life.runs:
        met = [c for c in life.doom.crashes if c.run_id == run["run_id"] and c.running]
        log = life.logs[run["run_id"]]
        told = [event for event in log if event["name"] in ("started", "recovered")]
        if len({event["attempt"] for event in told}) != len(told):
            yield "an attempt is told twice"
        if life.program.sleeps:
            continue  # to wake up is an attempt as well, and to fall asleep is fruitful
        if run["attempt"] != 1 + len(met):
            yield f"{run['attempt']} attempts, {len(met)} crashes"
        strikes = 0
        for crash in met:
            strikes = 0 if crash.fruitful and not life.rotates else strikes + 1
        if run["crashes"] != strikes and run["status"] != "interrupted":
            yield f"{run['crashes']} crashes counted, not {strikes}"


def followers(life: Life) -> Iterator[str]:
    """A follower sees every event once, in order; so does one that comes with a cursor."""
    for run_id, log in life.logs.items():
        if life.seen[run_id] != log:
            yield f"a follower saw {[event['seq'] for event in life.seen[run_id]]}"
        if life.late[run_id] != log[len(log) - len(life.late[run_id]) :]:
            yield f"a late follower saw {[event['seq'] for event in life.late[run_id]]}"


def told(life: Life) -> Iterator[str]:
    """What a task has left in a checkpoint, the log tells: once, unless it had to run again."""
    if life.rotates and life.doom.crashes:
        return
    tellings = {run_id: _tellings(log) for run_id, log in life.logs.items()}
    for task in sorted(life.finished.difference(*tellings.values())):
        if not _ended_by_others(life):
            yield f"the result of task {task} is in a checkpoint and in no event"
    for found in tellings.values():
        for task, attempts in found.items():
            if len(set(attempts)) != len(attempts):
                yield f"an attempt tells task {task} twice"
    for crash in life.doom.crashes:
        for task, attempts in tellings[crash.run_id].items():
            if task in crash.finished and len(attempts) > 1 and attempts[-1] > crash.attempt:
                yield f"task {task} was finished and told, and is told again"


def repeats(life: Life) -> Iterator[str]:
    """What a checkpoint holds is told once; where a run begins anew (EVENT_LOG), once more."""
    for log in life.logs.values():
        parts = Counter(
            (event["name"], event["checkpoint_id"], life.rotates and event["attempt"])
            for event in log
            if event["checkpoint_id"]
        )
        for (name, checkpoint, _), times in parts.items():
            if times > 1:
                yield f"{name} of checkpoint {checkpoint} is told {times} times"


def questions(life: Life) -> Iterator[str]:
    """A run asks a question once in each namespace; where it begins anew (EVENT_LOG), once more."""
    for log in life.logs.values():
        asked = Counter(
            (question["id"], event["name"], life.rotates and event["attempt"])
            for event in log
            if event["name"].partition("|")[0] == "updates"
            for question in _asked(decode(event["data"]))
        )
        for (question, *_), times in asked.items():
            if times > 1:
                yield f"question {question} is asked {times} times"


def work(life: Life) -> Iterator[str]:
    """What was finished when the process died is not done again (AGENT_SESSION)."""
    for crash in life.doom.crashes:
        for line in life.done:
            again = line["run"] == crash.run_id and line["attempt"] > crash.attempt
            if again and line["task"] in crash.finished and not life.rotates:
                yield f"{line['what']} was finished and is done again"
    for run, turn in zip(life.runs, life.program.turns, strict=True):
        done = {line["what"] for line in life.done if line["run"] == run["run_id"]}
        if turn.does is not None and done != set(turn.does):
            yield f"a run has done {done}, not {turn.does}"


def calls(life: Life) -> Iterator[str]:
    """A guarded call is made once; one that may be repeated has one key for ever."""
    made = Counter(line["what"] for line in life.done if line["kind"] == "call")
    if made != Counter(life.program.once):
        yield f"calls {dict(made)}"
    keys = {(line["what"], line["key"]) for line in life.done if line["kind"] == "look"}
    if len({what for what, _ in keys}) != len(keys):
        yield f"a call has {len(keys)} keys"


LAWS = (
    dense,
    endings,
    outcomes,
    threads,
    crashes,
    followers,
    told,
    repeats,
    questions,
    work,
    calls,
)


def breaches(life: Life) -> list[str]:
    """One sentence for every law that the life breaks."""
    where = ", then ".join(crash.change for crash in life.doom.crashes) or "undisturbed"
    return [f"{where}: {law.__name__}: {text}" for law in LAWS for text in law(life)]


def _tellings(log: list[Row]) -> dict[str, list[int]]:
    """The attempts that told a task's result, by task."""
    found: dict[str, list[int]] = {}
    for event in log:
        mode, task = event["name"].partition("|")[0], event["task_id"]
        if mode == "updates" and task and not _asked(decode(event["data"])):
            found.setdefault(task, []).append(event["attempt"])
    return found


def _asked(part: Row) -> list[Row]:
    asked: list[Row] = part.get("__interrupt__", []) if isinstance(part, dict) else []
    return asked


def _items(life: Life) -> list[str]:
    return list((life.state.values if life.state else {}).get("items", []))


def _messages(life: Life) -> list[str]:
    found = (life.state.values if life.state else {}).get("messages", [])
    said = [m if isinstance(m, str) else m["content"] for m in decode(encode(found))]
    return [RECOVERY if text.startswith(RECOVERY) else text for text in said]


def _expected_messages(life: Life) -> list[str]:
    """Every run that has begun anew is told why, once."""
    said = list(life.program.messages)
    return said and [said[0], *[RECOVERY] * _begun_anew(life), *said[1:]]


def _begun_anew(life: Life) -> int:
    """How many runs have begun anew."""
    recovered = (any(e["name"] == "recovered" for e in log) for log in life.logs.values())
    return life.rotates and sum(recovered)


def _without(names: Iterable[str], left_out: Iterable[str]) -> list[str]:
    return [name for name in names if name not in left_out]


def _ended_by_others(life: Life) -> bool:
    """Was a run ended on behalf of a dead owner? Nobody has opened its graph for that."""
    return any(
        life.logs[crash.run_id][len(crash.log)]["name"] == "end"
        for crash in life.doom.crashes
        if crash.running
    )
