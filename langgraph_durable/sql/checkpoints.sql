-- entry --
-- What stands on a checkpoint thread before a run touches it: head, greatest id, pending writes
-- on the newest checkpoint of each namespace (whole rows where LangGraph overwrites in place).
WITH head AS (
    SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id
    FROM checkpoints WHERE thread_id = %(thread_id)s
    ORDER BY checkpoint_ns, checkpoint_id DESC
)
SELECT
    (SELECT checkpoint_id FROM head WHERE checkpoint_ns = '') AS head,
    (SELECT max(checkpoint_id) FROM head) AS greatest,
    (SELECT json_agg(json_build_object(
        'ns', w.checkpoint_ns, 'checkpoint_id', w.checkpoint_id, 'task_id', w.task_id,
        'idx', w.idx, 'task_path', w.task_path, 'channel', w.channel, 'type', w.type,
        'blob', CASE WHEN w.idx < 0 THEN encode(w.blob, 'hex') END))
     FROM checkpoint_writes w JOIN head h
        ON h.checkpoint_ns = w.checkpoint_ns AND h.checkpoint_id = w.checkpoint_id
     WHERE w.thread_id = %(thread_id)s) AS pending

-- greatest --
-- The newest checkpoint id of a thread in all namespaces.
SELECT max(checkpoint_id) AS greatest FROM checkpoints WHERE thread_id = %(thread_id)s

-- untold --
-- Results of a run's tasks that no event of its log tells: on checkpoints that the run has gone on
-- from, and what tasks of functions have returned so far, which no state shows.
WITH lacking AS MATERIALIZED (
    SELECT checkpoint_ns, checkpoint_id, task_id, channel, type, blob
    FROM checkpoint_writes
    WHERE thread_id = %(thread_id)s AND idx >= 0 AND checkpoint_id >= coalesce(%(head)s, '')
      AND task_path <> '~__pregel_pull, __start__'
      AND task_id NOT IN (
        SELECT task_id FROM events
        WHERE run_id = %(run_id)s::text::uuid AND task_id IS NOT NULL
          AND (name = 'updates' OR name LIKE 'updates|%%')))
SELECT DISTINCT w.checkpoint_ns AS ns, w.checkpoint_id, w.task_id,
       c.checkpoint_id IS NOT NULL AS passed,
       CASE WHEN w.channel = '__return__' THEN w.type END AS type,
       CASE WHEN w.channel = '__return__' THEN w.blob END AS returned
FROM lacking w
LEFT JOIN checkpoints c ON c.thread_id = %(thread_id)s AND c.checkpoint_ns = w.checkpoint_ns
    AND c.parent_checkpoint_id = w.checkpoint_id
WHERE c.metadata ->> 'run_id' = %(run_id)s::text
   OR c.checkpoint_id IS NULL AND w.channel = '__return__'
ORDER BY w.checkpoint_id

-- copy_checkpoints --
-- A rotation starts from everything that was there when the run began.
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type,
                         checkpoint, metadata)
SELECT %(name)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
FROM checkpoints WHERE thread_id = %(source)s AND checkpoint_id <= %(greatest)s
ON CONFLICT DO NOTHING

-- copy_blobs --
-- The channel values those checkpoints name.
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
SELECT DISTINCT %(name)s, b.checkpoint_ns, b.channel, b.version, b.type, b.blob
FROM checkpoints c
CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
JOIN checkpoint_blobs b ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
    AND b.channel = v.key AND b.version = v.value
WHERE c.thread_id = %(source)s AND c.checkpoint_id <= %(greatest)s
ON CONFLICT DO NOTHING

-- copy_writes --
-- Finished history whole; of the checkpoints the run began on, only what was there then.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT %(name)s, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.task_path, w.idx,
       coalesce(p.channel, w.channel), coalesce(p.type, w.type),
       coalesce(decode(p.blob, 'hex'), w.blob)
FROM checkpoint_writes w
LEFT JOIN json_to_recordset(%(pending)s::json) AS p (
        ns text, checkpoint_id text, task_id text, idx integer, task_path text,
        channel text, type text, blob text)
    ON p.ns = w.checkpoint_ns AND p.checkpoint_id = w.checkpoint_id
    AND p.task_id = w.task_id AND p.idx = w.idx
WHERE w.thread_id = %(source)s AND w.checkpoint_id <= %(greatest)s
  AND (p.task_id IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM (
            SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id
            FROM checkpoints WHERE thread_id = %(source)s AND checkpoint_id <= %(greatest)s
            ORDER BY checkpoint_ns, checkpoint_id DESC) h
        WHERE h.checkpoint_ns = w.checkpoint_ns AND h.checkpoint_id = w.checkpoint_id))
ON CONFLICT DO NOTHING

-- roll_back_checkpoints --
-- What a run added to its thread goes.
DELETE FROM checkpoints
WHERE thread_id = %(thread_id)s
  AND (%(greatest)s::text IS NULL OR checkpoint_id > %(greatest)s)

-- roll_back_writes --
-- And what it wrote on the checkpoints it began on.
DELETE FROM checkpoint_writes w
WHERE w.thread_id = %(thread_id)s
  AND (%(greatest)s::text IS NULL OR w.checkpoint_id > %(greatest)s
       OR ((w.checkpoint_ns, w.checkpoint_id) IN (
              SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id
              FROM checkpoints
              WHERE thread_id = %(thread_id)s AND checkpoint_id <= %(greatest)s
              ORDER BY checkpoint_ns, checkpoint_id DESC)
           AND NOT EXISTS (
              SELECT 1 FROM json_to_recordset(%(pending)s::json) AS p (
                  ns text, checkpoint_id text, task_id text, idx integer)
              WHERE p.ns = w.checkpoint_ns AND p.checkpoint_id = w.checkpoint_id
                AND p.task_id = w.task_id AND p.idx = w.idx)))

-- restore_writes --
-- What LangGraph had overwritten in place comes back: an approval must not survive a rollback.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT %(thread_id)s, p.ns, p.checkpoint_id, p.task_id, p.task_path, p.idx,
       p.channel, p.type, decode(p.blob, 'hex')
FROM json_to_recordset(%(pending)s::json) AS p (
    ns text, checkpoint_id text, task_id text, idx integer, task_path text,
    channel text, type text, blob text)
WHERE p.blob IS NOT NULL
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob

-- retract_answers --
-- Answers that a run gave on the checkpoints it began on, to tasks that have not finished.
DELETE FROM checkpoint_writes w
WHERE w.thread_id = %(thread_id)s AND w.channel = '__resume__'
  AND (w.checkpoint_ns, w.checkpoint_id) IN (
      SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id
      FROM checkpoints
      WHERE thread_id = %(thread_id)s AND checkpoint_id <= %(greatest)s
      ORDER BY checkpoint_ns, checkpoint_id DESC)
  AND NOT EXISTS (
      SELECT 1 FROM checkpoint_writes r
      WHERE r.thread_id = w.thread_id AND r.checkpoint_ns = w.checkpoint_ns
        AND r.checkpoint_id = w.checkpoint_id AND r.task_id = w.task_id AND r.idx >= 0
        AND r.channel <> '__resume__')

-- restore_answers --
-- The answers that had been accepted before the run.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT %(thread_id)s, p.ns, p.checkpoint_id, p.task_id, p.task_path, p.idx,
       p.channel, p.type, decode(p.blob, 'hex')
FROM json_to_recordset(%(pending)s::json) AS p (
    ns text, checkpoint_id text, task_id text, idx integer, task_path text,
    channel text, type text, blob text)
WHERE p.blob IS NOT NULL AND p.channel = '__resume__'
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO NOTHING

-- forget_answers --
-- What a run wrote on the checkpoints it began on, unless a run before it was forgotten since.
DELETE FROM checkpoint_writes w
WHERE w.thread_id = %(thread_id)s
  AND EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = %(thread_id)s AND checkpoint_ns = ''
                AND checkpoint_id = %(head)s)
  AND (w.checkpoint_ns, w.checkpoint_id) IN (
      SELECT DISTINCT ON (checkpoint_ns) checkpoint_ns, checkpoint_id
      FROM checkpoints
      WHERE thread_id = %(thread_id)s AND checkpoint_id <= %(greatest)s
      ORDER BY checkpoint_ns, checkpoint_id DESC)
  AND NOT EXISTS (
      SELECT 1 FROM json_to_recordset(%(pending)s::json) AS p (
          ns text, checkpoint_id text, task_id text, idx integer)
      WHERE p.ns = w.checkpoint_ns AND p.checkpoint_id = w.checkpoint_id
        AND p.task_id = w.task_id AND p.idx = w.idx)

-- recall_answers --
-- And what it had overwritten there.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx,
                               channel, type, blob)
SELECT %(thread_id)s, p.ns, p.checkpoint_id, p.task_id, p.task_path, p.idx,
       p.channel, p.type, decode(p.blob, 'hex')
FROM json_to_recordset(%(pending)s::json) AS p (
    ns text, checkpoint_id text, task_id text, idx integer, task_path text,
    channel text, type text, blob text)
JOIN checkpoints c ON c.thread_id = %(thread_id)s AND c.checkpoint_ns = p.ns
    AND c.checkpoint_id = p.checkpoint_id
WHERE p.blob IS NOT NULL
ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob

-- relink_checkpoints --
-- What came behind a run's checkpoints now comes behind what was before them.
WITH RECURSIVE up AS (
    SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id AS parent
    FROM checkpoints c
    WHERE c.thread_id = ANY(%(ids)s) AND c.metadata ->> 'run_id' IS DISTINCT FROM %(run_id)s
    UNION ALL
    SELECT up.thread_id, up.checkpoint_ns, up.checkpoint_id, p.parent_checkpoint_id
    FROM up JOIN checkpoints p ON p.thread_id = up.thread_id
        AND p.checkpoint_ns = up.checkpoint_ns AND p.checkpoint_id = up.parent
    WHERE p.metadata ->> 'run_id' = %(run_id)s
)
UPDATE checkpoints c SET parent_checkpoint_id = up.parent
FROM up
WHERE c.thread_id = up.thread_id AND c.checkpoint_ns = up.checkpoint_ns
  AND c.checkpoint_id = up.checkpoint_id
  AND c.parent_checkpoint_id IS DISTINCT FROM up.parent
  AND NOT EXISTS (
      SELECT 1 FROM checkpoints p
      WHERE p.thread_id = up.thread_id AND p.checkpoint_ns = up.checkpoint_ns
        AND p.checkpoint_id = up.parent AND p.metadata ->> 'run_id' = %(run_id)s)

-- forget_blobs --
-- Channel values that only a run's checkpoints name.
WITH named AS (
    SELECT c.thread_id, c.checkpoint_ns, v.key AS channel, v.value AS version,
           bool_and(c.metadata ->> 'run_id' IS NOT DISTINCT FROM %(run_id)s) AS only_here
    FROM checkpoints c
    CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
    WHERE c.thread_id = ANY(%(ids)s)
    GROUP BY c.thread_id, c.checkpoint_ns, v.key, v.value
)
DELETE FROM checkpoint_blobs b USING named n
WHERE n.only_here AND b.thread_id = n.thread_id AND b.checkpoint_ns = n.checkpoint_ns
  AND b.channel = n.channel AND b.version = n.version

-- forget_writes --
-- What was written on a run's checkpoints.
DELETE FROM checkpoint_writes w USING checkpoints c
WHERE c.thread_id = ANY(%(ids)s) AND c.metadata ->> 'run_id' = %(run_id)s
  AND w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns
  AND w.checkpoint_id = c.checkpoint_id

-- forget_checkpoints --
-- A run's checkpoints, in all namespaces.
DELETE FROM checkpoints
WHERE thread_id = ANY(%(ids)s) AND metadata ->> 'run_id' = %(run_id)s

-- built_upon --
-- Does a checkpoint of another run tell only what changed since one of this run?
SELECT 1 FROM checkpoints mine JOIN checkpoints c USING (thread_id, checkpoint_ns)
WHERE mine.thread_id = ANY(%(ids)s) AND mine.metadata ->> 'run_id' = %(run_id)s
  AND c.checkpoint_id > mine.checkpoint_id
  AND c.metadata ->> 'run_id' IS DISTINCT FROM %(run_id)s
  AND c.metadata ? 'counters_since_delta_snapshot'
LIMIT 1

-- delete_checkpoints --
-- One of LangGraph's three tables at a time.
DELETE FROM checkpoints WHERE thread_id = ANY(%(ids)s)

-- delete_blobs --
-- Channel values of deleted threads.
DELETE FROM checkpoint_blobs WHERE thread_id = ANY(%(ids)s)

-- delete_writes --
-- Pending writes of deleted threads.
DELETE FROM checkpoint_writes WHERE thread_id = ANY(%(ids)s)

-- exists --
-- Does a thread have this checkpoint?
SELECT 1 FROM checkpoints
WHERE thread_id = %(thread_id)s AND checkpoint_ns = %(namespace)s
  AND checkpoint_id = %(checkpoint_id)s
