-- register --
-- A worker appears, or comes back after its connection was lost.
INSERT INTO workers (worker_id, expires_at)
VALUES (%(worker_id)s, clock_timestamp() + make_interval(secs => %(lease_seconds)s))
ON CONFLICT (worker_id) DO UPDATE SET expires_at = EXCLUDED.expires_at
RETURNING lock_key

-- announce --
-- The session lock is held, under this very postmaster.
INSERT INTO worker_locks (worker_id, lock_key, postmaster_started_at)
VALUES (%(worker_id)s, %(lock_key)s, pg_postmaster_start_time())
ON CONFLICT (worker_id) DO UPDATE
SET lock_key = EXCLUDED.lock_key, postmaster_started_at = EXCLUDED.postmaster_started_at

-- hold_lock --
-- Free the moment this session ends, however it ends.
SELECT pg_try_advisory_lock(%(lock_class)s, %(lock_key)s) AS held

-- beat --
-- The worker itself is alive; the self-notification shows whether LISTEN still hears.
UPDATE workers SET expires_at = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
WHERE worker_id = %(worker_id)s

-- lock_free --
-- Workers that announced a lock under this postmaster and hold it no more.
SELECT l.worker_id FROM worker_locks l
WHERE l.postmaster_started_at = pg_postmaster_start_time()
  AND NOT EXISTS (
    SELECT 1 FROM pg_locks p
    WHERE p.locktype = 'advisory' AND p.classid = %(lock_class)s::oid
      AND p.objid = l.lock_key::oid AND p.objsubid = 2 AND p.granted
      AND p.database = (SELECT oid FROM pg_database WHERE datname = current_database()))

-- expire_leases --
-- A worker is gone: what it ran is free.
WITH gone AS (
    SELECT run_id FROM runs WHERE worker_id = ANY(%(worker_ids)s) AND status = 'running'
      AND lease_expires_at > clock_timestamp()
    ORDER BY run_id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE runs r SET lease_expires_at = clock_timestamp() FROM gone WHERE r.run_id = gone.run_id

-- silent --
-- Workers whose own lease ran out: frozen, cut off, or dead without a session lock.
SELECT worker_id FROM workers WHERE expires_at <= clock_timestamp()

-- terminate --
-- A frozen owner may hold row locks in a half-sent pipeline; no time-out ends that.
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = ANY(%(names)s) AND pid <> pg_backend_pid()

-- forget --
-- Workers that own nothing any more.
DELETE FROM workers w
WHERE w.worker_id = ANY(%(worker_ids)s)
  AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.worker_id = w.worker_id AND r.status = 'running')
RETURNING w.worker_id

-- forget_locks --
-- Their announcements.
DELETE FROM worker_locks WHERE worker_id = ANY(%(worker_ids)s)

-- queue --
-- Runs that wait or run, which an index holds, and workers that are alive. Sleepers wait for
-- nobody here.
WITH open AS (
    SELECT r.status, r.status = 'pending' AND r.available_at <= clock_timestamp() AS due,
           t.active_run_id IS NULL OR t.active_run_id = r.run_id AS free,
           extract(epoch FROM clock_timestamp() - r.available_at)::float8 AS waited
    FROM runs r JOIN threads t USING (thread_id)
    WHERE r.status IN ('pending', 'running') AND NOT (r.asleep AND r.available_at > now())
)
SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
       count(*) FILTER (WHERE due) AS due,
       count(*) FILTER (WHERE due AND free) AS unblocked,
       max(waited) FILTER (WHERE due) AS longest_wait,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY waited) FILTER (WHERE due) AS median_wait,
       max(waited) FILTER (WHERE due AND free) AS longest_unblocked_wait,
       count(*) FILTER (WHERE status = 'running') AS running,
       (SELECT count(*) FROM workers WHERE expires_at > clock_timestamp()) AS workers
FROM open
