-- wait_briefly --
-- Whoever is in the way of one run must not hold up the others. For this transaction only: behind a
-- pooler the session is somebody else's next.
SET LOCAL lock_timeout = 200

-- lock_threads --
-- Thread rows come before run rows, everywhere, in key order.
SELECT 1 FROM threads WHERE thread_id = ANY(%s) ORDER BY thread_id FOR NO KEY UPDATE

-- fence --
-- Only the owner writes.
SELECT fence(%s::uuid[], %s::integer[])

-- events --
-- Append to the logs; the owner numbered them, so a repeated batch changes nothing.
INSERT INTO events (run_id, seq, attempt, name, data, task_id, checkpoint_id)
SELECT e.run_id, e.seq, e.attempt, e.name, e.data, e.task_id, e.checkpoint_id
FROM json_to_recordset(%s::json) AS e (
    run_id uuid, seq bigint, attempt integer, name text, data text,
    task_id text, checkpoint_id text)
ON CONFLICT (run_id, seq) DO NOTHING

-- advance --
-- What the batch proves about its runs: how far the log is, alive, fruitful; and their entry.
UPDATE runs r
SET next_seq = greatest(r.next_seq, w.next_seq),
    fruitful = r.fruitful OR w.fruitful,
    entry = coalesce(w.entry, r.entry),
    lease_expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM json_to_recordset(%(rows)s::json) AS w (
    run_id uuid, next_seq bigint, fruitful boolean, entry text)
WHERE r.run_id = w.run_id

-- blobs --
-- LangGraph's channel values; a version never changes.
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])
ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING

-- checkpoints --
-- LangGraph's checkpoints.
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
                         checkpoint, metadata)
SELECT c.a, c.b, c.c, c.d, c.e::jsonb, c.f::jsonb
FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
    AS c (a, b, c, d, e, f)
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata

-- task_writes --
-- Results of tasks; the first one stands.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::integer[],
                     %s::text[], %s::text[], %s::bytea[])
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO NOTHING

-- special_writes --
-- RESUME, INTERRUPT and ERROR; the last one stands.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::integer[],
                     %s::text[], %s::text[], %s::bytea[])
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob

-- finish --
-- The run's last word; a wait of a task that did not come to its end goes with it.
WITH waited AS (DELETE FROM waits WHERE run_id = %(run_id)s)
UPDATE runs
SET status = %(status)s, output = %(output)s, error = %(error)s, worker_id = NULL,
    lease_expires_at = NULL, finished_at = now(), updated_at = now()
WHERE run_id = %(run_id)s

-- settle_thread --
-- What a finished run leaves its thread; other runs may already wait for it.
UPDATE threads t
SET active_run_id = NULL,
    status = CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                                 AND r.status = 'pending') THEN 'busy' ELSE %(status)s END,
    "values" = coalesce(%(values)s, t."values"),
    interrupts = coalesce(%(interrupts)s, t.interrupts),
    error = %(error)s, state_updated_at = now(), updated_at = now(),
    expires_at = thread_expiry(t.temporary, t.ttl_minutes)
WHERE t.thread_id = %(thread_id)s

-- hand_back --
-- A deploy is not a crash: the run is due again at once, its thread stays its own.
UPDATE runs
SET status = 'pending', worker_id = NULL, lease_expires_at = NULL,
    available_at = now() + make_interval(secs => %s),
    crashes = CASE WHEN fruitful AND strategy = 'agent_session' THEN 0 ELSE crashes END,
    updated_at = now()
WHERE run_id = %s

-- notify --
-- One hint per batch; readers poll when they do not hear it.
SELECT pg_notify('langgraph_durable', %s)

-- announce_next --
-- A run that ends makes the next one of its thread due, and frees a place where places are counted.
SELECT pg_notify('langgraph_durable', 'work')
WHERE %s OR EXISTS (SELECT 1 FROM runs WHERE thread_id = ANY(%s) AND status = 'pending')

-- outcome --
-- After a lost connection: how far did the batch get?
SELECT attempt, status FROM runs WHERE run_id = %s
