-- known --
-- A call under its own key, else the oldest one like it that this run made before it was rotated
-- to another checkpoint thread and that no later call stands for.
SELECT key, attempt, status, result FROM (
    SELECT *, 0 AS rank FROM tool_calls WHERE key = %(key)s
    UNION ALL
    SELECT *, 1 AS rank FROM tool_calls
    WHERE run_id = %(run_id)s AND tool = %(tool)s AND arguments = %(arguments)s
      AND checkpoint_thread_id <> %(checkpoint_thread_id)s
      AND status IN ('pending', 'confirmed')
      AND coalesce(used_by, %(key)s) = %(key)s
) AS found
ORDER BY rank, status, position LIMIT 1

-- begin --
-- A call is about to be made.
INSERT INTO tool_calls (key, run_id, checkpoint_thread_id, attempt, tool, arguments, status)
VALUES (%(key)s, %(run_id)s, %(checkpoint_thread_id)s, %(attempt)s, %(tool)s, %(arguments)s,
        'pending')
ON CONFLICT (key) DO UPDATE
SET status = 'pending', attempt = EXCLUDED.attempt, result = NULL, updated_at = now()

-- settle --
-- How a call ended.
UPDATE tool_calls SET status = %(status)s, result = %(result)s, updated_at = now()
WHERE key = %(key)s

-- forget --
-- A call that did not happen: it waits for a person.
DELETE FROM tool_calls WHERE key = %(key)s

-- use --
-- A call of an earlier rotation now stands for a later one, and for no other.
UPDATE tool_calls SET used_by = %(key)s WHERE key = %(earlier)s
