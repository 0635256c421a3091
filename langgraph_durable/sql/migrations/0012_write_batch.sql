-- What a writer commits, as one call: a round trip instead of ten.
--
-- Rows come as JSON and their bytes beside them, in the same order; NULL where there are none. Both
-- functions look rows up by their keys, whatever the statistics say of a table that has just grown.

-- LangGraph's rows.
CREATE FUNCTION write_checkpoints(
    blobs json, blob_bytes bytea[], states json,
    results json, result_bytes bytea[], specials json, special_bytes bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- LangGraph's channel values; a version never changes.
    IF blobs IS NOT NULL THEN
        INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
        SELECT b.thread_id, b.checkpoint_ns, b.channel, b.version, b.type, b.blob
        FROM ROWS FROM (
            json_to_recordset(blobs) AS (
                thread_id text, checkpoint_ns text, channel text, version text, type text),
            unnest(blob_bytes)
        ) AS b (thread_id, checkpoint_ns, channel, version, type, blob)
        ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING;
    END IF;

    -- LangGraph's checkpoints.
    IF states IS NOT NULL THEN
        INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,
                                 checkpoint, metadata)
        SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id,
               c.checkpoint::jsonb, c.metadata::jsonb
        FROM json_to_recordset(states) AS c (
            thread_id text, checkpoint_ns text, checkpoint_id text, parent_checkpoint_id text,
            checkpoint text, metadata text)
        ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id)
        DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata;
    END IF;

    -- Results of tasks; the first one stands.
    IF results IS NOT NULL THEN
        INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
                                       idx, channel, type, blob)
        SELECT w.thread_id, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.task_path,
               w.idx, w.channel, w.type, w.blob
        FROM ROWS FROM (
            json_to_recordset(results) AS (
                thread_id text, checkpoint_ns text, checkpoint_id text, task_id text,
                task_path text, idx integer, channel text, type text),
            unnest(result_bytes)
        ) AS w (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,
                blob)
        ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO NOTHING;
    END IF;

    -- RESUME, INTERRUPT and ERROR; the last one stands.
    IF specials IS NOT NULL THEN
        INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path,
                                       idx, channel, type, blob)
        SELECT w.thread_id, w.checkpoint_ns, w.checkpoint_id, w.task_id, w.task_path,
               w.idx, w.channel, w.type, w.blob
        FROM ROWS FROM (
            json_to_recordset(specials) AS (
                thread_id text, checkpoint_ns text, checkpoint_id text, task_id text,
                task_path text, idx integer, channel text, type text),
            unnest(special_bytes)
        ) AS w (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type,
                blob)
        ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        DO UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob;
    END IF;
END $$;

-- Everything that the runs of a batch write, behind their fence. `attempts` are {run_id, attempt,
-- next_seq, fruitful, entry}. Answers the time that its events bear, in milliseconds. Whoever is in the way of one run must not hold up the others, hence
-- the lock_timeout.
CREATE FUNCTION write_batch(
    locked text[], attempts json, lease interval, logged json,
    finished json, settled json, told text,
    blobs json, blob_bytes bytea[], states json,
    results json, result_bytes bytea[], specials json, special_bytes bytea[]
) RETURNS bigint LANGUAGE plpgsql
SET lock_timeout = 200 SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    held integer;
BEGIN
    -- Thread rows come before run rows, everywhere, in key order.
    IF locked IS NOT NULL THEN
        PERFORM 1 FROM threads t WHERE t.thread_id = ANY(locked)
        ORDER BY t.thread_id FOR NO KEY UPDATE;
    END IF;

    -- The fence: only the owner writes, and stays the owner until the commit.
    PERFORM 1
    FROM runs r
    JOIN json_to_recordset(attempts) AS w (run_id uuid, attempt integer)
        ON r.run_id = w.run_id AND r.attempt = w.attempt
    WHERE r.status = 'running'
    ORDER BY r.run_id
    FOR NO KEY UPDATE OF r;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held <> json_array_length(attempts) THEN
        RAISE EXCEPTION 'the run is owned by another attempt' USING ERRCODE = 'LG001';
    END IF;

    -- The owner numbered the events, so a repeated batch changes nothing.
    IF logged IS NOT NULL THEN
        INSERT INTO events (run_id, seq, attempt, name, data, task_id, checkpoint_id)
        SELECT e.run_id, e.seq, e.attempt, e.name, e.data, e.task_id, e.checkpoint_id
        FROM json_to_recordset(logged) AS e (
            run_id uuid, seq bigint, attempt integer, name text, data text,
            task_id text, checkpoint_id text)
        ON CONFLICT (run_id, seq) DO NOTHING;
    END IF;

    -- What the batch proves about its runs: how far the log is, alive, fruitful; and their entry.
    UPDATE runs r
    SET next_seq = greatest(r.next_seq, w.next_seq),
        fruitful = r.fruitful OR w.fruitful,
        entry = coalesce(w.entry, r.entry),
        lease_expires_at = clock_timestamp() + lease
    FROM json_to_recordset(attempts) AS w (
        run_id uuid, next_seq bigint, fruitful boolean, entry text)
    WHERE r.run_id = w.run_id;

    PERFORM write_checkpoints(blobs, blob_bytes, states, results, result_bytes, specials,
                              special_bytes);

    -- Last words; a wait of a task that did not come to its end goes with its run.
    IF finished IS NOT NULL THEN
        DELETE FROM waits w USING json_to_recordset(finished) AS f (run_id uuid)
        WHERE w.run_id = f.run_id;
        UPDATE runs r
        SET status = f.status, output = f.output, error = f.error, worker_id = NULL,
            lease_expires_at = NULL, finished_at = now(), updated_at = now()
        FROM json_to_recordset(finished) AS f (run_id uuid, status text, output text, error text)
        WHERE r.run_id = f.run_id;
    END IF;

    -- What finished runs leave their threads; other runs may already wait for them.
    IF settled IS NOT NULL THEN
        UPDATE threads t
        SET active_run_id = NULL,
            status = CASE WHEN EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = t.thread_id
                                         AND r.status = 'pending') THEN 'busy' ELSE s.status END,
            "values" = coalesce(s."values", t."values"),
            interrupts = coalesce(s.interrupts, t.interrupts),
            error = s.error, state_updated_at = now(), updated_at = now(),
            expires_at = thread_expiry(t.temporary, t.ttl_minutes)
        FROM json_to_recordset(settled) AS s (
            thread_id text, status text, "values" text, interrupts text, error text)
        WHERE t.thread_id = s.thread_id;
        -- A run that ends makes the next one of its thread due, and frees a place where places are
        -- counted.
        PERFORM pg_notify('langgraph_durable', 'work')
        WHERE EXISTS (
            SELECT 1 FROM json_to_recordset(settled) AS s (thread_id text, counted boolean)
            WHERE s.counted OR EXISTS (SELECT 1 FROM runs r WHERE r.thread_id = s.thread_id
                                         AND r.status = 'pending'));
    END IF;

    -- One hint per batch; readers poll when they do not hear it.
    PERFORM pg_notify('langgraph_durable', told);
    RETURN (extract(epoch FROM now()) * 1000)::bigint;
END $$;
