-- Run policies: how long a run may take and how often it may crash, kept with the run.
-- Its clock stands still while it is asleep: `deadline_at` is empty then, `time_left` is not.
--
-- Columns are only added and none is needed by whoever does not know it: servers of the release
-- before go on working on this schema.

ALTER TABLE runs
    ADD COLUMN max_attempts integer,
    ADD COLUMN deadline_at timestamptz,
    ADD COLUMN time_left interval;

-- What the claim looks for: a graph's due runs, oldest first; and whether an older one waits.
CREATE INDEX runs_due ON runs (graph_id, available_at, run_id) WHERE status = 'pending';
CREATE INDEX runs_waiting ON runs (thread_id, ticket) WHERE status = 'pending';

-- Runs that nobody executes and nobody may: nearly always none.
CREATE INDEX runs_cancelled ON runs (run_id) WHERE status = 'pending' AND cancel_action IS NOT NULL;
CREATE INDEX runs_overdue ON runs (deadline_at) WHERE status = 'pending' AND deadline_at IS NOT NULL;

-- How long a run rests behind its latest crash; behind the first one not at all.
CREATE FUNCTION rest(
    strikes integer, initial_seconds float8, factor float8, max_seconds float8)
RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT make_interval(secs => CASE WHEN strikes < 2 THEN 0
        ELSE least(max_seconds, initial_seconds * power(factor, least(strikes - 2, 30))) END)
$$;

-- Retention: of a log that was kept long enough only its first and its last event are left.
ALTER TABLE runs ADD COLUMN events_deleted_at timestamptz;

CREATE INDEX runs_ended ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_with_log ON runs (finished_at)
    WHERE finished_at IS NOT NULL AND events_deleted_at IS NULL;

-- When each graph was last served by anybody, as long as all servers tell.
CREATE TABLE served_graphs (
    graph_id text PRIMARY KEY,
    seen_at timestamptz NOT NULL
);

ALTER TABLE workers ADD COLUMN tells_graphs boolean NOT NULL DEFAULT false;
