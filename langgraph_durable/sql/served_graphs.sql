-- tell --
-- These graphs are served now, and so says this worker from now on.
WITH told AS (
    INSERT INTO served_graphs (graph_id, seen_at)
    SELECT graph_id, now() FROM unnest(%(graphs)s::text[]) AS g (graph_id)
    ORDER BY graph_id
    ON CONFLICT (graph_id) DO UPDATE SET seen_at = EXCLUDED.seen_at
)
UPDATE workers SET tells_graphs = true WHERE worker_id = %(worker_id)s AND NOT tells_graphs

-- orphans --
-- Runs that have long been due and that nobody executes, of graphs that nobody has served for as
-- long. While a server of the release before is alive, which does not tell, there are none.
SELECT r.run_id, r.thread_id, r.graph_id, r.attempt, r.crashes, r.next_seq, r.cancel_action,
       r.entry, t.checkpoint_thread_id
FROM runs r
JOIN threads t ON t.thread_id = r.thread_id
LEFT JOIN served_graphs s ON s.graph_id = r.graph_id
WHERE coalesce(s.seen_at, '-infinity') <= now() - make_interval(secs => %(seconds)s)
  AND ((r.status = 'pending'
        AND r.available_at <= clock_timestamp() - make_interval(secs => %(seconds)s))
       OR (r.status = 'running'
           AND r.lease_expires_at <= clock_timestamp() - make_interval(secs => %(seconds)s)))
  AND NOT EXISTS (SELECT 1 FROM workers w
                  WHERE NOT w.tells_graphs AND w.expires_at > clock_timestamp())
ORDER BY r.thread_id, r.run_id
LIMIT 50
FOR UPDATE OF r, t SKIP LOCKED
