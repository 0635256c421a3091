-- wait_briefly --
-- Whoever is in the way of one run must not hold up the others. For this transaction only: behind a
-- pooler the session is somebody else's next.
SET LOCAL lock_timeout = 200

-- write_batch --
-- All that the runs of a batch write: see migration 0012.
SELECT write_batch(
    %(locked)s::text[], %(attempts)s, make_interval(secs => %(lease_seconds)s), %(logged)s,
    %(finished)s, %(settled)s, %(told)s,
    %(blobs)s, %(blobs_bytes)b::bytea[], %(checkpoints)s,
    %(task_writes)s, %(task_writes_bytes)b::bytea[],
    %(special_writes)s, %(special_writes_bytes)b::bytea[]) AS at

-- write_checkpoints --
-- LangGraph's rows alone.
SELECT write_checkpoints(
    %(blobs)s, %(blobs_bytes)b::bytea[], %(checkpoints)s,
    %(task_writes)s, %(task_writes_bytes)b::bytea[],
    %(special_writes)s, %(special_writes_bytes)b::bytea[])

-- hand_back --
-- A deploy is not a crash: the run is due again at once, its thread stays its own.
UPDATE runs
SET status = 'pending', worker_id = NULL, lease_expires_at = NULL,
    available_at = now() + make_interval(secs => %s),
    crashes = CASE WHEN fruitful AND strategy = 'agent_session' THEN 0 ELSE crashes END,
    updated_at = now()
WHERE run_id = %s

-- announce_next --
-- A run that is handed back, sleeps or was undone: write_batch does so for those that end.
SELECT pg_notify('langgraph_durable', 'work')
WHERE %s OR EXISTS (SELECT 1 FROM runs WHERE thread_id = ANY(%s) AND status = 'pending')

-- outcome --
-- After a lost connection: how far did the batch get?
SELECT attempt, status FROM runs WHERE run_id = %s
