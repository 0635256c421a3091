-- after --
-- A page of a run's log behind a cursor: up to ``limit`` events, the last of them the first one
-- that makes the page reach ``size`` bytes. In the order of an event's fields.
SELECT run_id::text, seq, attempt, name, data, task_id, checkpoint_id,
       (extract(epoch FROM created_at) * 1000)::bigint AS at
FROM (
    SELECT *, sum(octet_length(data)) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING)
              - octet_length(data) AS before
    FROM events WHERE run_id = %(run_id)s AND seq > %(after)s
    ORDER BY seq LIMIT %(limit)s
) AS page
WHERE before < %(size)s
ORDER BY seq

-- at_checkpoint --
-- How far a reader is who has the state of a checkpoint.
SELECT max(seq) AS seq FROM events
WHERE run_id = %(run_id)s AND checkpoint_id = %(checkpoint_id)s

-- ended --
-- A log whose terminal event a reader has seen already, or that is not there any more.
SELECT 1 FROM (
    SELECT seq, name FROM events WHERE run_id = %(run_id)s ORDER BY seq DESC LIMIT 1
) AS last
WHERE name = 'end' AND seq <= %(by)s
UNION ALL
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = %(run_id)s)

-- append_one --
-- One event by whoever holds the run's row.
INSERT INTO events (run_id, seq, attempt, name, data)
VALUES (%(run_id)s, %(seq)s, %(attempt)s, %(name)s, %(data)s)

-- marks --
-- What a run's log already holds, for healing.
SELECT name, task_id, checkpoint_id,
       name LIKE 'tasks%%' AND strpos(data, '"triggers"') > 0 AS starts,
       CASE WHEN strpos(data, '__interrupt__') > 0 THEN data END AS questions
FROM events
WHERE run_id = %(run_id)s
  AND (task_id IS NOT NULL OR checkpoint_id IS NOT NULL OR strpos(data, '__interrupt__') > 0)

-- asked --
-- The parts of a run's log that ask questions.
SELECT data FROM events
WHERE run_id = %(run_id)s AND (name = 'updates' OR name LIKE 'updates|%%')
  AND strpos(data, '__interrupt__') > 0
ORDER BY seq
