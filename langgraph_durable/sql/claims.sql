-- walk --
-- For this transaction. How many slots there are is not known to the planner, which would plan for
-- very many: read and sort all runs that wait, to take a few that an index has in front.
SELECT set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),
       set_config('enable_seqscan', 'off', true)

-- hold_graphs --
-- Whoever counts the runs of a graph must be the only one; a graph that another one counts is left
-- out this time. In a statement of its own: the next one sees what that one has taken.
SELECT graph_id FROM unnest(%(graphs)s::text[]) AS g (graph_id)
WHERE pg_try_advisory_xact_lock(%(lock_class)s, hashtext(graph_id))

-- claim --
-- Take due runs and abandoned runs alike. Both the run and its thread are locked: "busy" lives
-- in the thread row, and only a thread's oldest due run is a candidate. Every graph is asked for
-- as many as it has room for, so that a full one holds up no other. A run on its last strike
-- is left to an idle worker, where it can hurt nobody else, until it has waited for a lease.
WITH served AS (
    SELECT s.*, CASE WHEN s.concurrency IS NULL THEN %(slots)s ELSE greatest(0, least(%(slots)s,
        s.concurrency - (SELECT count(*) FROM runs r
                         WHERE r.status = 'running' AND r.graph_id = s.graph_id))) END AS room
    FROM json_to_recordset(%(served)s::json) AS s (
        graph_id text, max_attempts integer, concurrency integer, deadline_seconds float8,
        initial_seconds float8, factor float8, max_seconds float8)
), abandoned AS (
    SELECT r.run_id, r.thread_id, r.status AS was, r.available_at, n.strikes,
           s.max_attempts, s.deadline_seconds
    FROM runs r
    JOIN served s ON s.graph_id = r.graph_id
    JOIN threads t ON t.thread_id = r.thread_id
    CROSS JOIN LATERAL (SELECT CASE WHEN r.fruitful AND r.strategy = 'agent_session' THEN 0
                                    ELSE r.crashes + 1 END AS strikes) AS n
    WHERE r.status = 'running' AND r.cancel_action IS NULL
      AND r.lease_expires_at <= clock_timestamp()
      AND r.lease_expires_at + rest(n.strikes, s.initial_seconds, s.factor, s.max_seconds)
          <= clock_timestamp()
      AND coalesce(r.deadline_at > clock_timestamp(), true)
      AND n.strikes < CASE WHEN %(idle)s OR r.lease_expires_at
                <= clock_timestamp() - make_interval(secs => %(lease_seconds)s)
            THEN s.max_attempts ELSE greatest(s.max_attempts - 1, 1) END
    ORDER BY r.available_at, r.run_id
    LIMIT %(slots)s
    FOR UPDATE OF r, t SKIP LOCKED
), due AS (
    SELECT oldest.*, s.max_attempts, s.deadline_seconds
    FROM served s
    CROSS JOIN LATERAL (
        SELECT r.run_id, r.thread_id, r.status AS was, r.available_at, r.crashes AS strikes
        FROM runs r JOIN threads t ON t.thread_id = r.thread_id
        WHERE r.graph_id = s.graph_id AND r.status = 'pending' AND r.cancel_action IS NULL
          AND r.available_at <= now()  -- an index finds that, however many sleep
          AND coalesce(r.deadline_at > clock_timestamp(), true)
          AND (t.active_run_id = r.run_id
               OR (t.active_run_id IS NULL AND r.ticket = (
                    SELECT oldest.ticket FROM runs oldest
                    WHERE oldest.thread_id = r.thread_id AND oldest.status = 'pending'
                      AND oldest.available_at <= clock_timestamp()
                    ORDER BY oldest.ticket LIMIT 1)))
          AND r.crashes < CASE WHEN %(idle)s OR r.available_at
                    <= clock_timestamp() - make_interval(secs => %(lease_seconds)s)
                THEN s.max_attempts ELSE greatest(s.max_attempts - 1, 1) END
        ORDER BY r.available_at, r.run_id
        LIMIT s.room
        FOR UPDATE OF r, t SKIP LOCKED) AS oldest
), candidate AS (
    SELECT * FROM (
        SELECT run_id, thread_id, was, available_at, strikes, max_attempts, deadline_seconds
        FROM abandoned
        UNION ALL
        SELECT run_id, thread_id, was, available_at, strikes, max_attempts, deadline_seconds
        FROM due) AS found
    ORDER BY available_at, run_id
    LIMIT %(slots)s
), busy AS (
    UPDATE threads t SET active_run_id = c.run_id, status = 'busy', updated_at = now()
    FROM candidate c WHERE t.thread_id = c.thread_id
    RETURNING t.thread_id, t.checkpoint_thread_id, t.rotation
)
UPDATE runs r
SET status = 'running', attempt = r.attempt + 1, crashes = c.strikes, fruitful = false,
    worker_id = %(worker_id)s,
    lease_expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s),
    max_attempts = c.max_attempts,
    deadline_at = coalesce(r.deadline_at, clock_timestamp()
        + coalesce(r.time_left, make_interval(secs => c.deadline_seconds))),
    time_left = NULL,
    started_at = coalesce(r.started_at, now()), updated_at = now()
FROM candidate c JOIN busy b ON b.thread_id = c.thread_id
WHERE r.run_id = c.run_id
RETURNING r.run_id, r.thread_id, r.graph_id, r.assistant_id, r.attempt, r.crashes, r.strategy,
    r.next_seq, r.request, r.answer, r.entry, r.first_entry, r.asleep, r.metadata, r.created_at,
    c.was, b.checkpoint_thread_id, b.rotation,
    (SELECT 1 FROM checkpoints k WHERE k.thread_id = b.checkpoint_thread_id LIMIT 1)
        IS NULL AS untouched

-- disown --
-- Give back what this worker owns and does not execute: the answer to a claim was lost.
WITH mine AS (
    SELECT r.run_id FROM runs r
    WHERE r.status = 'running' AND r.worker_id = %(worker_id)s
      AND NOT EXISTS (
        SELECT 1 FROM unnest(%(run_ids)s::uuid[], %(attempts)s::integer[]) AS h (run_id, attempt)
        WHERE h.run_id = r.run_id AND h.attempt = r.attempt)
    ORDER BY r.run_id
    FOR UPDATE OF r SKIP LOCKED
)
UPDATE runs r
SET status = 'pending', worker_id = NULL, lease_expires_at = NULL, available_at = now(),
    updated_at = now()
FROM mine WHERE r.run_id = mine.run_id
