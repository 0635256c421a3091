-- columns --
-- What readers get of a run and its thread.
r.run_id, r.thread_id, r.ticket, r.assistant_id, r.graph_id, r.status, r.attempt, r.crashes,
    r.multitask, r.temporary, r.strategy, r.metadata, r.request, r.request_hash, r.answer,
    r.cancel_action, r.hidden, r.next_seq, r.output, r.error, r.created_at, r.updated_at,
    r.started_at, r.finished_at, r.events_deleted_at, t.checkpoint_thread_id AS conversation_id

-- insert --
-- A new run waits in its thread's order.
INSERT INTO runs (run_id, thread_id, ticket, assistant_id, graph_id, strategy, multitask,
                  temporary, metadata, request, answer, idempotency_key, request_hash,
                  next_seq, available_at)
VALUES (%(run_id)s, %(thread_id)s, %(ticket)s, %(assistant_id)s, %(graph_id)s, %(strategy)s,
        %(multitask)s, %(temporary)s, %(metadata)s, %(request)s, %(answer)s,
        %(idempotency_key)s, %(request_hash)s, 1,
        now() + make_interval(secs => %(after_seconds)s))

-- by_key --
-- The run that a request under this key has made.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.owner_id = '' AND r.idempotency_key = %(key)s

-- get --
-- One run as its readers see it.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.run_id = %(run_id)s

-- of_thread --
-- A thread's runs, newest first.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.thread_id = %(thread_id)s AND NOT r.hidden
  AND (%(status)s::text IS NULL OR r.status = %(status)s)
ORDER BY r.ticket DESC
LIMIT %(limit)s OFFSET %(offset)s

-- lock_behind --
-- The next run of a thread that has touched its state, or may yet; the thread must be locked.
SELECT run_id, coalesce(first_entry, entry) AS entry FROM runs
WHERE thread_id = %(thread_id)s AND ticket > %(ticket)s AND NOT hidden
  AND (entry IS NOT NULL OR status IN ('pending', 'running'))
ORDER BY ticket LIMIT 1
FOR NO KEY UPDATE

-- answering --
-- The first run behind another one that answers its question, on its thread or on a fork of that;
-- a failed one has taken its answer back.
WITH RECURSIVE behind (thread_id, ticket, forks) AS (
    SELECT %(thread_id)s::text, %(ticket)s::bigint, 0
    UNION ALL
    SELECT fork.thread_id, -1::bigint, b.forks + 1
    FROM behind b
    JOIN runs r ON r.thread_id = b.thread_id AND r.ticket >= b.ticket
    JOIN threads fork ON fork.forked_behind = r.run_id
)
SELECT :columns
FROM behind b
JOIN runs r ON r.thread_id = b.thread_id AND r.ticket > b.ticket
JOIN threads t ON t.thread_id = r.thread_id
WHERE NOT r.hidden
  AND r.status IN ('pending', 'running', 'success')
  AND r.answer::jsonb -> 'answers' ? %(question_id)s
ORDER BY b.forks, r.ticket LIMIT 1

-- begun_after --
-- A thread's runs that have begun, in the order they began, behind one of them.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.thread_id = %(thread_id)s AND r.started_at IS NOT NULL
  AND (r.started_at, r.ticket) > (
      coalesce((SELECT started_at FROM runs
                WHERE thread_id = %(thread_id)s AND ticket = %(ticket)s), '-infinity'),
      %(ticket)s)
ORDER BY r.started_at, r.ticket

-- by_ticket --
-- The run of one place in a thread's queue.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.thread_id = %(thread_id)s AND r.ticket = %(ticket)s

-- open_of_thread --
-- The runs of a thread that wait or run, in key order; the thread must be locked.
SELECT run_id, thread_id, status, attempt, crashes, next_seq, cancel_action, asleep, asks,
       coalesce(first_entry, entry) AS entry
FROM runs WHERE thread_id = %(thread_id)s AND status IN ('pending', 'running')
ORDER BY run_id
FOR NO KEY UPDATE

-- open --
-- All runs that wait or run, of every thread.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.status = ANY(%(statuses)s) AND r.status IN ('pending', 'running')
ORDER BY r.created_at

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
               OR (t.active_run_id IS NULL AND NOT EXISTS (
                    SELECT 1 FROM runs older
                    WHERE older.thread_id = r.thread_id AND older.ticket < r.ticket
                      AND older.status = 'pending'
                      AND older.available_at <= clock_timestamp())))
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
    c.was, b.checkpoint_thread_id, b.rotation

-- abandoned_for_good --
-- Runs without an owner that nobody may try again: cancelled by a person (the owner may have handed
-- such a run back before it heard of it), overdue, or out of attempts.
SELECT r.run_id, r.thread_id, r.attempt, r.crashes, r.next_seq, r.cancel_action, r.fruitful,
       coalesce(r.first_entry, r.entry) AS entry, t.checkpoint_thread_id, r.status, r.deadline_at <= clock_timestamp() AS overdue
FROM runs r
JOIN threads t ON t.thread_id = r.thread_id
LEFT JOIN json_to_recordset(%(served)s::json) AS s (graph_id text, max_attempts integer)
    ON s.graph_id = r.graph_id
WHERE (r.status = 'pending' AND r.cancel_action IS NOT NULL)
   OR (r.status = 'pending' AND r.deadline_at <= clock_timestamp())
   OR (r.status = 'running' AND r.lease_expires_at <= clock_timestamp()
       AND (r.cancel_action IS NOT NULL OR r.deadline_at <= clock_timestamp()
            OR (r.crashes + 1 >= coalesce(s.max_attempts, r.max_attempts, %(max_attempts)s)
                AND NOT (r.fruitful AND r.strategy = 'agent_session'))))
ORDER BY r.thread_id, r.run_id
LIMIT 50
FOR UPDATE OF r, t SKIP LOCKED

-- end_unowned --
-- End a run on nobody's behalf; the number advances, so whoever thinks to own it is fenced out.
UPDATE runs
SET status = %(status)s, error = %(error)s, attempt = attempt + 1, crashes = %(crashes)s,
    next_seq = next_seq + 1, output = coalesce(output, %(output)s), asleep = false, asks = '{}',
    worker_id = NULL, lease_expires_at = NULL, finished_at = now(), updated_at = now()
WHERE run_id = %(run_id)s

-- hide --
-- A run that was rolled back: gone for its thread, kept for whoever holds its response.
UPDATE runs SET hidden = true WHERE run_id = %(run_id)s

-- sleeps --
-- Does it wait for a time or a signal?
SELECT 1 FROM runs WHERE run_id = %(run_id)s AND status = 'pending' AND asleep

-- cancel_action --
-- What the person wants who stopped it.
SELECT cancel_action FROM runs WHERE run_id = %(run_id)s

-- request_cancel --
-- A durable wish; the owner reads it with its next heartbeat or by notification.
UPDATE runs SET cancel_action = coalesce(cancel_action, %(action)s), updated_at = now()
WHERE run_id = %(run_id)s

-- lock --
-- A run under its thread's lock.
SELECT run_id, thread_id, status, attempt, crashes, next_seq, cancel_action, asleep,
       coalesce(first_entry, entry) AS entry, finished_at
FROM runs WHERE run_id = %(run_id)s FOR NO KEY UPDATE

-- last_ended --
-- How the newest run that has ended on a thread did so.
SELECT run_id, status, error, finished_at FROM runs
WHERE thread_id = %(thread_id)s AND finished_at IS NOT NULL AND NOT hidden
ORDER BY finished_at DESC LIMIT 1

-- delete --
-- Forget a finished run and its log.
DELETE FROM runs WHERE run_id = %(run_id)s

-- renew --
-- The heartbeat: exactly the attempts being executed, in key order, around rows being written.
WITH held AS (
    SELECT r.run_id
    FROM runs r JOIN unnest(%(run_ids)s::uuid[], %(attempts)s::integer[]) AS w (run_id, attempt)
        ON r.run_id = w.run_id AND r.attempt = w.attempt
    WHERE r.status = 'running'
    ORDER BY r.run_id
    FOR NO KEY UPDATE OF r SKIP LOCKED
)
UPDATE runs r
SET lease_expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM held WHERE r.run_id = held.run_id

-- standing --
-- Who owns these runs now, does a person want them stopped, is their time over; a plain read that
-- never waits.
SELECT run_id, attempt, status, cancel_action, deadline_at <= clock_timestamp() AS overdue
FROM runs WHERE run_id = ANY(%(run_ids)s::uuid[])

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

-- hand_back --
-- Give up attempts of a worker that is alive: no strike, due at once.
WITH mine AS (
    SELECT r.run_id
    FROM runs r JOIN unnest(%(run_ids)s::uuid[], %(attempts)s::integer[]) AS w (run_id, attempt)
        ON r.run_id = w.run_id AND r.attempt = w.attempt
    WHERE r.status = 'running'
    ORDER BY r.run_id
    FOR UPDATE OF r
)
UPDATE runs r
SET status = 'pending', worker_id = NULL, lease_expires_at = NULL,
    crashes = CASE WHEN r.fruitful AND r.strategy = 'agent_session' THEN 0 ELSE r.crashes END,
    available_at = now(), updated_at = now()
FROM mine WHERE r.run_id = mine.run_id
RETURNING r.run_id
