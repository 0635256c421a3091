-- columns --
-- What readers get of a run and its thread.
r.run_id, r.thread_id, r.ticket, r.assistant_id, r.graph_id, r.status, r.attempt, r.crashes,
    r.multitask, r.temporary, r.strategy, r.metadata, r.request, r.request_hash, r.answer,
    r.cancel_action, r.hidden, r.next_seq, r.output, r.error, r.created_at, r.updated_at,
    r.started_at, r.finished_at, r.events_deleted_at, t.checkpoint_thread_id AS conversation_id

-- arrival --
-- The assistant that a new run asks for, and the thread that it names when that is there.
SELECT a.assistant_id, a.graph_id, a.name, a.description, a.config, a.context, a.metadata,
       a.version, a.created_at, a.updated_at, t.thread_id
FROM current_assistants a
LEFT JOIN threads t ON t.thread_id = coalesce(
    (SELECT thread_id FROM threads WHERE thread_id = %(thread_id)s),
    (SELECT thread_id FROM thread_aliases WHERE alias = %(thread_id)s))
WHERE a.assistant_id = %(assistant_id)s AND a.graph_id = ANY(%(served)s)

-- enter --
-- A new run joins the queue of its thread, with the first event of its log. Where a worker
-- is there to begin it, and the thread is free for it, it starts at once. Nothing when the thread
-- is not there, or the assistant not as whoever has prepared the run remembers it.
WITH place AS (
    -- What stands in the thread's row is told anew behind a lock that had to be waited for: whether
    -- others wait or run there must be read from it, not from their own rows.
    SELECT t.thread_id, t.checkpoint_thread_id, t.rotation, t.next_ticket, t.metadata,
           %(worker_id)s::text IS NOT NULL AND %(after_seconds)s::float8 <= 0
           AND t.active_run_id IS NULL AND t.status <> 'busy' AS begins
    FROM threads t
    WHERE t.thread_id = %(thread_id)s AND (%(known_version)s::integer IS NULL OR EXISTS (
        SELECT 1 FROM assistants a
        WHERE a.assistant_id = %(assistant_id)s AND a.version = %(known_version)s
          AND a.created_at = %(known_created_at)s AND a.updated_at = %(known_updated_at)s))
    FOR NO KEY UPDATE OF t
), joined AS (
    UPDATE threads t
    SET next_ticket = t.next_ticket + 1, status = 'busy', expires_at = NULL, updated_at = now(),
        active_run_id = CASE WHEN p.begins THEN %(run_id)s::uuid ELSE t.active_run_id END,
        metadata = %(thread_metadata)s || t.metadata || jsonb_build_object(
            'graph_id', %(graph_id)s::text, 'assistant_id', %(assistant_id)s::text),
        config = %(config)s
    FROM place p WHERE t.thread_id = p.thread_id
), entered AS (
    INSERT INTO runs (run_id, thread_id, ticket, assistant_id, graph_id, strategy, multitask,
                      temporary, metadata, request, answer, idempotency_key, request_hash,
                      next_seq, available_at, status, attempt, worker_id, lease_expires_at,
                      max_attempts, deadline_at, started_at)
    SELECT %(run_id)s, p.thread_id, p.next_ticket, %(assistant_id)s, %(graph_id)s, %(strategy)s,
           %(multitask)s, %(temporary)s, %(metadata)s || p.metadata || %(own_metadata)s,
           %(request)s, %(answer)s,
           %(idempotency_key)s, %(request_hash)s, 1,
           now() + make_interval(secs => %(after_seconds)s::float8),
           CASE WHEN p.begins THEN 'running' ELSE 'pending' END, p.begins::integer, b.worker_id,
           clock_timestamp() + make_interval(secs => b.lease_seconds), b.max_attempts,
           clock_timestamp() + make_interval(secs => b.deadline_seconds),
           CASE WHEN p.begins THEN now() END
    FROM place p LEFT JOIN (
        SELECT %(worker_id)s::text AS worker_id, %(lease_seconds)s::float8 AS lease_seconds,
               %(max_attempts)s::integer AS max_attempts,
               %(deadline_seconds)s::float8 AS deadline_seconds) AS b ON p.begins
    RETURNING *
), logged AS (
    INSERT INTO events (run_id, seq, attempt, name, data)
    SELECT run_id, 0, 0, 'created', %(created)s FROM entered
)
SELECT :columns, r.entry, r.first_entry, r.asleep, t.checkpoint_thread_id, t.rotation, t.begins,
    (SELECT 1 FROM checkpoints k WHERE k.thread_id = t.checkpoint_thread_id LIMIT 1)
        IS NULL AS untouched,
    pg_notify('langgraph_durable', 'thread ' || r.thread_id) AS told,
    CASE WHEN NOT t.begins THEN pg_notify('langgraph_durable', 'work') END AS due
FROM entered r JOIN place t USING (thread_id)
