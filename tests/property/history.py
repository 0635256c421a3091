"""What really happened to every run, in order: a trigger notes each change of status or attempt.

Whoever starts, ends or hands back a run holds its thread's row lock until commit, so the numbers
of a thread's notes are in commit order.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.property.rig import Rig

_TABLE = """
CREATE TABLE IF NOT EXISTS history (
    id bigint GENERATED ALWAYS AS IDENTITY, thread_id text, run_id uuid, ticket bigint,
    graph_id text, status text, attempt integer, cancelled boolean)
"""
_FUNCTION = """
CREATE OR REPLACE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history (thread_id, run_id, ticket, graph_id, status, attempt, cancelled)
    VALUES (NEW.thread_id, NEW.run_id, NEW.ticket, NEW.graph_id, NEW.status, NEW.attempt,
            NEW.cancel_action IS NOT NULL);
    RETURN NULL;
END $$
"""
_TRIGGER = """
CREATE OR REPLACE TRIGGER note AFTER UPDATE ON runs FOR EACH ROW
WHEN ((OLD.status, OLD.attempt) IS DISTINCT FROM (NEW.status, NEW.attempt))
EXECUTE FUNCTION note()
"""


@dataclass(frozen=True)
class Note:
    thread_id: str
    run_id: str
    ticket: int
    graph_id: str
    status: str
    attempt: int
    cancelled: bool

    @property
    def starts(self) -> bool:
        return self.status == "running"

    @property
    def ends(self) -> bool:
        return self.status not in ("pending", "running")


def keep_history(rig: Rig) -> None:
    """Note from now on."""
    for statement in (_TABLE, _FUNCTION, _TRIGGER):
        rig.query(statement)


def history_of(rig: Rig, thread_id: str) -> list[Note]:
    rows = rig.query(
        "SELECT thread_id, run_id::text, ticket, graph_id, status, attempt, cancelled"
        " FROM history WHERE thread_id = %s ORDER BY id",
        (thread_id,),
    )
    return [Note(**row) for row in rows]
