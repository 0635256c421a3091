-- columns --
-- What there is to know about a cron.
c.cron_id, c.owner_id, c.assistant_id, c.thread_id, c.schedule, c.timezone, c.end_time, c.enabled,
    c.metadata, c.payload, c.request, c.next_run_date, c.created_at, c.updated_at

-- now --
-- The database's time: the only clock that all processes share.
SELECT now() AS now

-- insert --
-- A new cron.
INSERT INTO crons AS c (cron_id, assistant_id, thread_id, schedule, timezone, end_time, enabled,
                        metadata, payload, request, next_run_date)
VALUES (%(cron_id)s, %(assistant_id)s, %(thread_id)s, %(schedule)s, %(timezone)s, %(end_time)s,
        %(enabled)s, %(metadata)s, %(payload)s, %(request)s, %(next_run_date)s)
RETURNING :columns

-- get --
-- A cron by its id.
SELECT :columns FROM crons c WHERE cron_id = %(cron_id)s

-- lock --
-- A cron that neither fires nor changes until commit.
SELECT :columns FROM crons c WHERE cron_id = %(cron_id)s FOR NO KEY UPDATE

-- update --
-- All that a client may change.
UPDATE crons c
SET schedule = %(schedule)s, timezone = %(timezone)s, end_time = %(end_time)s,
    enabled = %(enabled)s, metadata = %(metadata)s, payload = %(payload)s,
    request = %(request)s, next_run_date = %(next_run_date)s, updated_at = now()
WHERE cron_id = %(cron_id)s
RETURNING :columns

-- delete --
-- The cron; its runs stay.
DELETE FROM crons WHERE cron_id = %(cron_id)s RETURNING cron_id

-- due --
-- Crons whose date has come, locked until commit; what another process holds is its to fire.
-- Threads are locked first and never waited for: whoever deletes one locks in the same order.
SELECT :columns, now() AS now
FROM crons c JOIN current_assistants a USING (assistant_id)
WHERE c.enabled AND c.next_run_date <= now() AND a.graph_id = ANY(%(served)s)
  AND (c.thread_id IS NULL OR EXISTS (
      SELECT 1 FROM threads t WHERE t.thread_id = c.thread_id FOR NO KEY UPDATE SKIP LOCKED))
ORDER BY c.next_run_date LIMIT %(limit)s
FOR NO KEY UPDATE OF c SKIP LOCKED

-- move --
-- The date that comes next, or none.
UPDATE crons SET next_run_date = %(next_run_date)s WHERE cron_id = %(cron_id)s

-- count --
-- How many crons match.
SELECT count(*) AS total FROM crons
WHERE metadata @> %(metadata)s
  AND (%(assistant_id)s::text IS NULL OR assistant_id = %(assistant_id)s)
  AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s)
  AND (%(enabled)s::boolean IS NULL OR enabled = %(enabled)s)

-- search --
-- The page of them, in an order that is put in.
SELECT :columns FROM crons c
WHERE metadata @> %(metadata)s
  AND (%(assistant_id)s::text IS NULL OR assistant_id = %(assistant_id)s)
  AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s)
  AND (%(enabled)s::boolean IS NULL OR enabled = %(enabled)s)
ORDER BY {order}
LIMIT %(limit)s OFFSET %(offset)s
