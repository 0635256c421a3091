-- after --
-- A page of a run's log behind a cursor.
SELECT run_id, seq, attempt, name, data, task_id, checkpoint_id
FROM events WHERE run_id = %(run_id)s AND seq > %(after)s
ORDER BY seq LIMIT %(limit)s

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
