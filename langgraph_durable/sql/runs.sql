-- columns --
-- What readers get of a run and its thread.
r.run_id, r.thread_id, r.ticket, r.assistant_id, r.graph_id, r.status, r.attempt, r.crashes,
    r.multitask, r.temporary, r.strategy, r.metadata, r.request, r.request_hash, r.answer,
    r.cancel_action, r.hidden, r.next_seq, r.output, r.error, r.created_at, r.updated_at,
    r.started_at, r.finished_at, r.events_deleted_at, t.checkpoint_thread_id AS conversation_id

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

-- last_begun --
-- The run of a thread that began last.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.thread_id = %(thread_id)s AND r.started_at IS NOT NULL
ORDER BY r.started_at DESC, r.ticket DESC LIMIT 1

-- by_ticket --
-- The run of one place in a thread's queue.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.thread_id = %(thread_id)s AND r.ticket = %(ticket)s

-- hear_end --
-- A client has heard of the end of a run.
UPDATE runs SET end_heard_at = now()
WHERE run_id = %(run_id)s AND finished_at IS NOT NULL AND end_heard_at IS NULL

-- end_is_news --
-- Has a run ended a moment ago, and no client heard of it?
SELECT 1 FROM runs
WHERE run_id = %(run_id)s AND end_heard_at IS NULL
  AND finished_at > now() - make_interval(secs => %(seconds)s)

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

-- abandoned_for_good --
-- Runs without an owner that nobody may try again: cancelled by a person (the owner may have handed
-- such a run back before it heard of it), overdue, or out of attempts.
SELECT r.run_id, r.thread_id, r.attempt, r.crashes, r.next_seq, r.cancel_action, r.fruitful,
       coalesce(r.first_entry, r.entry) AS entry, t.checkpoint_thread_id, r.status,
       r.deadline_at <= clock_timestamp() AS overdue
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
