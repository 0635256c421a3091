-- insert --
-- A run's webhook waits for its end.
INSERT INTO webhook_deliveries (run_id, url) VALUES (%(run_id)s, %(url)s)

-- take --
-- Begin tries that are due. Whoever does not come back from one leaves it to others after a while.
-- Of runs that were rolled back nobody hears. Runs are looked up one by one: few have a webhook,
-- and a join would read all of them.
WITH gone AS (
    DELETE FROM webhook_deliveries d
    WHERE d.next_at IS NOT NULL
      AND (SELECT r.hidden FROM runs r WHERE r.run_id = d.run_id)
), due AS (
    SELECT d.run_id
    FROM webhook_deliveries d
    WHERE d.next_at <= now()
      AND (SELECT NOT r.hidden AND r.status NOT IN ('pending', 'running')
           FROM runs r WHERE r.run_id = d.run_id)
    ORDER BY d.next_at
    LIMIT %(slots)s
    FOR NO KEY UPDATE OF d SKIP LOCKED
)
UPDATE webhook_deliveries d
SET attempts = d.attempts + 1, next_at = now() + make_interval(secs => %(try_seconds)s)
FROM due WHERE d.run_id = due.run_id
RETURNING d.run_id, d.url, d.payload, d.attempts

-- keep_payload --
-- What is told stays the same on every try.
UPDATE webhook_deliveries SET payload = coalesce(payload, %(payload)s)
WHERE run_id = %(run_id)s
RETURNING payload

-- delivered --
-- The receiver has it; no copy is kept.
UPDATE webhook_deliveries
SET delivered_at = now(), next_at = NULL, payload = NULL, last_error = NULL
WHERE run_id = %(run_id)s

-- failed --
-- Try again later; without a pause, never. A try that others have begun since is theirs.
UPDATE webhook_deliveries
SET last_error = %(error)s,
    next_at = now() + make_interval(secs => %(pause)s::float8),
    payload = CASE WHEN %(pause)s::float8 IS NOT NULL THEN payload END
WHERE run_id = %(run_id)s AND attempts = %(attempts)s AND delivered_at IS NULL
