"""How the official server answered, call by call, against graphs like ``tests/apps/basic``.

Recorded from langgraph-api 0.16.7 through the unchanged Python client, reduced to what clients can
rely on. Where this server answers otherwise on purpose, the call expects **our** answer and names
the row of ``DIFFERENCES`` that says why. Two differences hold for every stream and are therefore
not written at each: ``end-frame`` and ``event-ids``.
"""

from __future__ import annotations

from tests.contract.recordings.assistants import ASSISTANTS, SYSTEM
from tests.contract.recordings.calls import Call
from tests.contract.recordings.cancels import CANCELS
from tests.contract.recordings.crons import CRONS
from tests.contract.recordings.differences import DIFFERENCES
from tests.contract.recordings.failures import FAILURES
from tests.contract.recordings.interrupts import INTERRUPTS
from tests.contract.recordings.joins import JOINS
from tests.contract.recordings.made_assistants import MADE_ASSISTANTS
from tests.contract.recordings.meta import META
from tests.contract.recordings.multitask import MULTITASK
from tests.contract.recordings.runs import RUNS
from tests.contract.recordings.stateless import STATELESS
from tests.contract.recordings.store import STORE
from tests.contract.recordings.streams import STREAMS
from tests.contract.recordings.threads import COPIES, LIVES, THREADS

SCENARIOS: dict[str, list[Call]] = {
    "meta": META,
    "assistants": ASSISTANTS,
    "made assistants": MADE_ASSISTANTS,
    "system assistants": SYSTEM,
    "threads": THREADS,
    "lives of threads": LIVES,
    "copies of threads": COPIES,
    "runs": RUNS,
    "stateless runs": STATELESS,
    "failures": FAILURES,
    "joins": JOINS,
    "store": STORE,
    "crons": CRONS,
    **{f"stream {name}": calls for name, calls in STREAMS.items()},
    **{f"cancel {name}": calls for name, calls in CANCELS.items()},
    **{f"multitask {name}": calls for name, calls in MULTITASK.items()},
    **{f"interrupt {name}": calls for name, calls in INTERRUPTS.items()},
}

__all__ = ["DIFFERENCES", "SCENARIOS"]
