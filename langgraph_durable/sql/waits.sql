-- begin --
-- A task waits; the first time counts, however often it gets here.
INSERT INTO waits (run_id, interrupt_id, signal, due_at)
VALUES (%(run_id)s, %(interrupt_id)s, %(signal)s,
        coalesce(%(until)s::timestamptz,
                 clock_timestamp() + make_interval(secs => %(seconds)s), never()))
ON CONFLICT (run_id, interrupt_id) DO NOTHING

-- known --
-- Which of a run's waits are on record.
SELECT interrupt_id FROM waits WHERE run_id = %(run_id)s

-- keep --
-- Of tasks that have gone on, or are no more, nothing is left to wait for.
DELETE FROM waits WHERE run_id = %(run_id)s AND NOT interrupt_id = ANY(%(open)s)

-- fall_asleep --
-- Nobody executes the run until its first wait is over; its deadline's clock stands still.
UPDATE runs r
SET status = 'pending', asleep = true, asks = %(asks)s, output = %(output)s, worker_id = NULL,
    lease_expires_at = NULL,
    available_at = coalesce(
        (SELECT min(CASE WHEN w.value IS NULL THEN w.due_at ELSE clock_timestamp() END)
         FROM waits_of(r.run_id, r.thread_id) AS w), clock_timestamp()),
    time_left = r.deadline_at - clock_timestamp(), deadline_at = NULL,
    crashes = CASE WHEN r.fruitful AND r.strategy = 'agent_session' THEN 0 ELSE r.crashes END,
    updated_at = now()
WHERE r.run_id = %(run_id)s

-- rest_thread --
-- The thread stays busy; what it holds and asks can be read all the while.
UPDATE threads
SET "values" = coalesce(%(values)s, "values"), interrupts = %(interrupts)s,
    updated_at = now(), state_updated_at = now()
WHERE thread_id = %(thread_id)s

-- over --
-- A run's waits that are over by now, and the value of the signal that ended each, if one did.
SELECT interrupt_id, "position", value, clock_timestamp() AS at
FROM waits_of(%(run_id)s, %(thread_id)s)
WHERE value IS NOT NULL OR due_at <= clock_timestamp()

-- take_signals --
-- A signal wakes one wait.
UPDATE signals SET taken_by = %(run_id)s
WHERE thread_id = %(thread_id)s AND "position" = ANY(%(positions)s)

-- release_signals --
-- What a run took that has never been.
UPDATE signals SET taken_by = NULL WHERE thread_id = %(thread_id)s AND taken_by = %(run_id)s

-- finish --
-- Waits that are over.
DELETE FROM waits WHERE run_id = %(run_id)s AND interrupt_id = ANY(%(over)s)

-- wake --
-- The run is on its way again; what it has to go back to in a rollback is kept.
UPDATE runs SET asleep = false, asks = '{}', output = NULL, first_entry = coalesce(first_entry, %(first_entry)s)
WHERE run_id = %(run_id)s

-- forget --
-- The run has ended: nobody waits any more.
DELETE FROM waits WHERE run_id = %(run_id)s

-- inherit --
-- Whoever answers a sleeper's question goes on waiting in its place, since when it did.
UPDATE waits SET run_id = %(heir)s WHERE run_id = %(run_id)s

-- signal --
-- A signal for whoever waits for it, now or later; one that came before changes nothing.
INSERT INTO signals (thread_id, name, signal_id, value)
VALUES (%(thread_id)s, %(name)s, %(signal_id)s, %(value)s)
ON CONFLICT (thread_id, name, signal_id) DO NOTHING
RETURNING "position"

-- call --
-- The sleeper that a signal is for is due.
UPDATE runs r SET available_at = least(r.available_at, clock_timestamp())
WHERE r.thread_id = %(thread_id)s AND r.status = 'pending' AND r.asleep
  AND EXISTS (SELECT 1 FROM waits w WHERE w.run_id = r.run_id AND w.signal = %(name)s)

-- answered_sleepers --
-- Runs that sleep beside questions to people, one of which the next run has an answer to.
SELECT s.run_id, s.thread_id, s.attempt, s.crashes, s.next_seq, t.interrupts,
       heir.run_id AS heir
FROM runs s
JOIN threads t ON t.thread_id = s.thread_id AND t.active_run_id = s.run_id
CROSS JOIN LATERAL (
    SELECT a.run_id FROM runs a
    WHERE a.thread_id = s.thread_id AND a.status = 'pending' AND a.ticket > s.ticket
      AND a.cancel_action IS NULL AND a.available_at <= clock_timestamp()
      AND a.answer::jsonb -> 'answers' ?| s.asks
    ORDER BY a.ticket LIMIT 1) AS heir
WHERE s.status = 'pending' AND s.asleep AND s.asks <> '{}' AND s.cancel_action IS NULL
ORDER BY s.thread_id
LIMIT 50
FOR UPDATE OF s, t SKIP LOCKED

-- settle_unasked --
-- Who comes to a sleeper with answers to nothing that it asks would wait for nothing: it ends as
-- its answer says for that, with what the thread holds. The thread must be locked.
WITH ended AS (
    UPDATE runs a
    SET status = a.answer::json -> 'unasked' ->> 'status',
        error = a.answer::json -> 'unasked' ->> 'error', output = s.output,
        attempt = a.attempt + 1, next_seq = a.next_seq + 1,
        finished_at = clock_timestamp(), updated_at = now()
    FROM threads t JOIN runs s ON s.run_id = t.active_run_id
    WHERE t.thread_id = %(thread_id)s AND s.status = 'pending' AND s.asleep
      AND a.thread_id = t.thread_id AND a.ticket > s.ticket AND a.status = 'pending'
      AND a.attempt = 0 AND a.cancel_action IS NULL AND a.available_at <= clock_timestamp()
      AND a.answer::json -> 'unasked' IS NOT NULL
      AND NOT coalesce(a.answer::jsonb -> 'answers' ?| s.asks, false)
    RETURNING a.run_id, a.next_seq - 1 AS seq, a.attempt, a.answer::json -> 'unasked' AS data
), told AS (
    INSERT INTO events (run_id, seq, attempt, name, data)
    SELECT run_id, seq, attempt, 'end', data::text FROM ended
    RETURNING run_id
)
SELECT pg_notify('langgraph_durable', 'events ' || run_id || ',' || run_id || ' end') FROM told

-- give_way --
-- The heir is the next to run on its thread.
UPDATE threads SET active_run_id = %(heir)s, updated_at = now() WHERE thread_id = %(thread_id)s
