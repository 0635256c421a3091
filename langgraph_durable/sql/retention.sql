-- columns --
-- What readers get of a run and its thread.
r.run_id, r.thread_id, r.ticket, r.assistant_id, r.graph_id, r.status, r.attempt, r.crashes,
    r.multitask, r.temporary, r.strategy, r.metadata, r.request, r.request_hash, r.answer,
    r.cancel_action, r.hidden, r.next_seq, r.output, r.error, r.created_at, r.updated_at,
    r.started_at, r.finished_at, r.events_deleted_at, t.checkpoint_thread_id AS conversation_id

-- old_logs --
-- Runs that ended long ago on threads that neither run nor wait for a person, and whose logs are
-- whole. Of those made at the Responses door only such whose Response is stored, unless that can
-- be made here.
SELECT :columns
FROM runs r JOIN threads t USING (thread_id)
WHERE r.finished_at <= now() - make_interval(secs => %(seconds)s) AND r.events_deleted_at IS NULL
  AND t.active_run_id IS NULL AND t.status NOT IN ('busy', 'interrupted')
  AND (%(keeps)s OR r.request::json ->> 'door' <> 'responses'
       OR EXISTS (SELECT 1 FROM responses p
                  WHERE p.run_id = r.run_id AND (p.terminal IS NOT NULL OR p.deleted)))
ORDER BY r.finished_at LIMIT %(limit)s
FOR NO KEY UPDATE OF r SKIP LOCKED

-- delete_logs --
-- What a reader needs to know that a run began and how it ended stays.
DELETE FROM events e USING runs r
WHERE r.run_id = ANY(%(ids)s::uuid[]) AND e.run_id = r.run_id
  AND e.seq > 0 AND e.seq < r.next_seq - 1

-- mark_logs --
-- Their logs are not whole any more.
UPDATE runs SET events_deleted_at = now() WHERE run_id = ANY(%(ids)s::uuid[])

-- old_runs --
-- Runs that ended long ago on threads that neither run nor wait for a person.
SELECT r.run_id, r.next_seq
FROM runs r JOIN threads t USING (thread_id)
WHERE r.finished_at <= now() - make_interval(secs => %(seconds)s)
  AND t.active_run_id IS NULL AND t.status NOT IN ('busy', 'interrupted')
  AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
                  WHERE d.run_id = r.run_id AND d.next_at IS NOT NULL)
ORDER BY r.finished_at LIMIT %(limit)s
FOR UPDATE OF r SKIP LOCKED

-- delete_runs --
-- With them go their logs, responses, guarded calls and deliveries.
DELETE FROM runs WHERE run_id = ANY(%(ids)s::uuid[])

-- page_of_threads --
-- The next threads that are old enough to look at, in the order in which they were made.
SELECT thread_id, created_at FROM threads
WHERE created_at > coalesce(%(behind)s::timestamptz, '-infinity')
  AND created_at <= now() - make_interval(secs => %(seconds)s)
ORDER BY created_at
FETCH FIRST %(limit)s ROWS WITH TIES

-- lock_unused --
-- Those of some threads that nobody has used for long, and that neither run nor wait for a person.
SELECT t.thread_id, t.checkpoint_thread_id,
       EXISTS (SELECT 1 FROM checkpoints c
               WHERE c.thread_id = t.checkpoint_thread_id AND c.checkpoint_ns = ''
               OFFSET 1) AS prunable
FROM threads t
WHERE t.thread_id = ANY(%(ids)s) AND t.active_run_id IS NULL
  AND t.status NOT IN ('busy', 'interrupted')
  AND greatest(t.updated_at, t.state_updated_at) <= now() - make_interval(secs => %(seconds)s)
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                    AND r.status IN ('pending', 'running'))
  AND NOT EXISTS (SELECT 1 FROM runs r JOIN webhook_deliveries d USING (run_id)
                  WHERE r.thread_id = t.thread_id AND d.next_at IS NOT NULL)
ORDER BY t.thread_id
FOR UPDATE OF t SKIP LOCKED

-- archived_logs --
-- Every event of some runs, one JSON object a line.
SELECT json_build_object('table', 'events', 'row', to_json(e))::text AS line
FROM events e WHERE e.run_id = ANY(%(ids)s::uuid[]) ORDER BY e.run_id, e.seq

-- archived_runs --
-- Some runs with all that goes with them.
SELECT json_build_object('table', 'runs', 'row', to_json(r))::text AS line
FROM runs r WHERE r.run_id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT json_build_object('table', 'events', 'row', to_json(e))::text
FROM events e WHERE e.run_id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT json_build_object('table', 'responses', 'row', to_json(p))::text
FROM responses p WHERE p.run_id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT json_build_object('table', 'tool_calls', 'row', to_json(c))::text
FROM tool_calls c WHERE c.run_id = ANY(%(ids)s::uuid[])

-- archived_threads --
-- Some threads with their checkpoints; bytes are told in hexadecimal.
WITH used AS (
    SELECT thread_id, checkpoint_thread_id AS id FROM threads WHERE thread_id = ANY(%(ids)s)
    UNION SELECT thread_id, thread_id FROM threads WHERE thread_id = ANY(%(ids)s)
    UNION SELECT thread_id, alias FROM thread_aliases WHERE thread_id = ANY(%(ids)s)
)
SELECT json_build_object('table', 'threads', 'row', to_json(t))::text AS line
FROM threads t WHERE t.thread_id = ANY(%(ids)s)
UNION ALL
SELECT json_build_object('table', 'checkpoints', 'row', to_json(c))::text
FROM checkpoints c JOIN used ON used.id = c.thread_id
UNION ALL
SELECT json_build_object('table', 'checkpoint_blobs', 'row', to_json(b))::text
FROM checkpoint_blobs b JOIN used ON used.id = b.thread_id
UNION ALL
SELECT json_build_object('table', 'checkpoint_writes', 'row', to_json(w))::text
FROM checkpoint_writes w JOIN used ON used.id = w.thread_id

-- runs_of_threads --
-- What the archive of a thread holds besides.
SELECT run_id FROM runs WHERE thread_id = ANY(%(ids)s)
