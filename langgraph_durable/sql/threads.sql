-- columns --
-- What there is to know about a thread.
thread_id, checkpoint_thread_id, rotation, next_ticket, active_run_id, status, "values",
    interrupts, error, metadata, config, temporary, owner_id, ttl_minutes, ttl_strategy,
    expires_at, created_at, updated_at, state_updated_at

-- resolve --
-- The public id behind an id or an alias.
SELECT thread_id FROM threads WHERE thread_id = %(thread_id)s
UNION ALL
SELECT thread_id FROM thread_aliases WHERE alias = %(thread_id)s
LIMIT 1

-- get --
-- A thread by its id or by any alias.
SELECT :columns FROM threads
WHERE thread_id = coalesce(
    (SELECT thread_id FROM threads WHERE thread_id = %(thread_id)s),
    (SELECT thread_id FROM thread_aliases WHERE alias = %(thread_id)s))

-- lock --
-- A thread under its lock: submit, cancel, update_state and delete exclude each other here.
SELECT :columns FROM threads WHERE thread_id = %(thread_id)s FOR NO KEY UPDATE

-- lock_origins --
-- The threads that a run's thread was forked from, and its own; in key order.
WITH RECURSIVE origin AS (
    SELECT t.thread_id, t.forked_behind FROM threads t WHERE t.thread_id = %(thread_id)s
    UNION
    SELECT t.thread_id, t.forked_behind
    FROM origin o
    JOIN runs r ON r.run_id = o.forked_behind
    JOIN threads t ON t.thread_id = r.thread_id
)
SELECT 1 FROM threads WHERE thread_id IN (SELECT thread_id FROM origin)
ORDER BY thread_id FOR NO KEY UPDATE

-- insert --
-- A new thread; nothing when the id is taken.
INSERT INTO threads (thread_id, checkpoint_thread_id, metadata, temporary, ttl_minutes,
                     ttl_strategy, expires_at)
SELECT %(thread_id)s, %(thread_id)s, %(metadata)s, %(temporary)s, %(ttl_minutes)s,
       %(ttl_strategy)s, thread_expiry(false, %(ttl_minutes)s)
WHERE NOT EXISTS (SELECT 1 FROM thread_aliases WHERE alias = %(thread_id)s)
ON CONFLICT DO NOTHING
RETURNING :columns

-- insert_copy --
-- A new thread that begins where another one stands, without its runs.
INSERT INTO threads (thread_id, checkpoint_thread_id, metadata, "values", interrupts, status,
                     ttl_minutes, ttl_strategy, expires_at, forked_behind)
SELECT %(name)s, %(name)s, metadata, "values", interrupts,
       CASE WHEN interrupts <> '{}' OR status = 'interrupted' THEN 'interrupted' ELSE 'idle' END,
       %(ttl_minutes)s, %(ttl_strategy)s, thread_expiry(false, %(ttl_minutes)s), %(behind)s
FROM threads WHERE thread_id = %(thread_id)s
RETURNING :columns

-- forget_rotations --
-- Ids that a thread's earlier rotations used for their checkpoints.
SELECT id FROM (
    SELECT thread_id AS id FROM threads WHERE thread_id = %(thread_id)s
    UNION SELECT alias FROM thread_aliases WHERE thread_id = %(thread_id)s) ids
WHERE id <> (SELECT checkpoint_thread_id FROM threads WHERE thread_id = %(thread_id)s)

-- set_ttl --
-- A thread's own life time, counted from its last use.
UPDATE threads
SET ttl_minutes = %(ttl_minutes)s, ttl_strategy = %(ttl_strategy)s, updated_at = now(),
    expires_at = CASE WHEN status <> 'busy' THEN thread_expiry(temporary, %(ttl_minutes)s) END
WHERE thread_id = %(thread_id)s RETURNING :columns

-- merge_metadata --
-- Keys given replace keys held.
UPDATE threads SET metadata = metadata || %(metadata)s, updated_at = now()
WHERE thread_id = %(thread_id)s RETURNING :columns

-- settle --
-- After a run that ended without its owner.
UPDATE threads t
SET active_run_id = CASE WHEN active_run_id = %(run_id)s THEN NULL ELSE active_run_id END,
    status = CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                                 AND r.status IN ('pending', 'running')) THEN 'busy'
                  ELSE %(status)s END,
    error = %(error)s, updated_at = now(), state_updated_at = now(),
    expires_at = thread_expiry(t.temporary, t.ttl_minutes)
WHERE t.thread_id = %(thread_id)s

-- settle_rolled_back --
-- The thread as it was before the run: its row still says so.
UPDATE threads t
SET active_run_id = CASE WHEN active_run_id = %(run_id)s THEN NULL ELSE active_run_id END,
    status = CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                                 AND r.run_id <> %(run_id)s
                                 AND r.status IN ('pending', 'running')) THEN 'busy'
                  WHEN t.interrupts <> '{}' THEN 'interrupted'
                  ELSE 'idle' END,
    updated_at = now(),
    expires_at = thread_expiry(t.temporary, t.ttl_minutes)
WHERE t.thread_id = %(thread_id)s

-- set_state --
-- The thread row after its state was edited by hand, or lost a run.
UPDATE threads t
SET "values" = %(values)s, interrupts = %(interrupts)s, error = %(error)s,
    status = CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                                 AND r.status IN ('pending', 'running')) THEN 'busy'
                  ELSE %(status)s END,
    updated_at = now(), state_updated_at = now(),
    expires_at = thread_expiry(t.temporary, t.ttl_minutes)
WHERE t.thread_id = %(thread_id)s

-- delete --
-- The thread with runs, logs and aliases; checkpoints go by `delete_checkpoints`. Whoever follows it
-- hears of it; nobody follows a temporary one.
WITH gone AS (DELETE FROM threads WHERE thread_id = %(thread_id)s RETURNING thread_id, temporary)
SELECT pg_notify('langgraph_durable', 'thread ' || thread_id) FROM gone WHERE NOT temporary

-- checkpoint_threads --
-- Every checkpoint thread a thread ever used.
SELECT checkpoint_thread_id AS id FROM threads WHERE thread_id = %(thread_id)s
UNION SELECT thread_id FROM threads WHERE thread_id = %(thread_id)s
UNION SELECT alias FROM thread_aliases WHERE thread_id = %(thread_id)s

-- expired --
-- Threads whose time is over; never one that is busy, nor one with a life of its own that waits
-- for a person.
SELECT thread_id, checkpoint_thread_id, temporary, ttl_strategy FROM threads
WHERE expires_at <= now() AND active_run_id IS NULL AND temporary = %(temporary)s
  AND (temporary OR status NOT IN ('busy', 'interrupted'))
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = threads.thread_id
                    AND r.status IN ('pending', 'running'))
  AND NOT EXISTS (SELECT 1 FROM runs r JOIN webhook_deliveries d USING (run_id)
                  WHERE r.thread_id = threads.thread_id AND d.next_at IS NOT NULL)
ORDER BY thread_id LIMIT %(limit)s
FOR UPDATE SKIP LOCKED

-- outlive --
-- A pruned thread has nothing more to lose until it is used again.
UPDATE threads SET expires_at = NULL WHERE thread_id = %(thread_id)s

-- taken --
-- Which of these names belong to anybody already.
SELECT name FROM unnest(%(names)s::text[]) AS n (name)
WHERE EXISTS (SELECT 1 FROM threads t WHERE t.thread_id = n.name OR t.checkpoint_thread_id = n.name)
   OR EXISTS (SELECT 1 FROM thread_aliases a WHERE a.alias = n.name)

-- rotate --
-- From now on the thread goes by a new checkpoint thread.
UPDATE threads SET checkpoint_thread_id = %(name)s, rotation = %(rotation)s, updated_at = now()
WHERE thread_id = %(thread_id)s

-- add_alias --
-- The rotated id reaches the thread too.
INSERT INTO thread_aliases (alias, thread_id) VALUES (%(name)s, %(thread_id)s)
ON CONFLICT (alias) DO NOTHING
