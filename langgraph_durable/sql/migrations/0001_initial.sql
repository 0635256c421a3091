-- The durable core. One row per thread for ever, one row per run, one ordered log per run.
--
-- A run is claimed by a worker (attempt + 1, a lease), writes its log and its checkpoints under
-- a fence on (run_id, attempt), and ends with exactly one `end` event in the transaction that
-- sets its terminal status. LangGraph's own tables lie beside these in the same schema.

CREATE TABLE threads (
    thread_id text PRIMARY KEY,
    checkpoint_thread_id text NOT NULL UNIQUE,
    rotation integer NOT NULL DEFAULT 1,
    next_ticket bigint NOT NULL DEFAULT 0,
    active_run_id uuid,
    status text NOT NULL DEFAULT 'idle' CHECK (status IN ('idle', 'busy', 'interrupted', 'error')),
    "values" text,
    interrupts text NOT NULL DEFAULT '{}',
    error text,
    metadata jsonb NOT NULL DEFAULT '{}',
    config jsonb NOT NULL DEFAULT '{}',
    temporary boolean NOT NULL DEFAULT false,
    owner_id text NOT NULL DEFAULT '',
    ttl_minutes double precision CHECK (ttl_minutes > 0),
    ttl_strategy text NOT NULL DEFAULT 'delete' CHECK (ttl_strategy IN ('delete', 'keep_latest')),
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    state_updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 70);

CREATE INDEX threads_metadata ON threads USING gin (metadata jsonb_path_ops);
CREATE INDEX threads_created ON threads (created_at);
CREATE INDEX threads_expiring ON threads (expires_at) WHERE expires_at IS NOT NULL;

-- Every id a rotation ever gave a conversation; it reaches the public thread for ever.
CREATE TABLE thread_aliases (
    alias text PRIMARY KEY,
    thread_id text NOT NULL REFERENCES threads ON DELETE CASCADE
);

CREATE INDEX thread_aliases_thread ON thread_aliases (thread_id);

CREATE TABLE runs (
    run_id uuid PRIMARY KEY,
    thread_id text NOT NULL REFERENCES threads ON DELETE CASCADE,
    ticket bigint NOT NULL,
    assistant_id text NOT NULL,
    graph_id text NOT NULL,
    owner_id text NOT NULL DEFAULT '',
    status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
    attempt integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    fruitful boolean NOT NULL DEFAULT false,
    worker_id text,
    lease_expires_at timestamptz,
    available_at timestamptz NOT NULL DEFAULT now(),
    next_seq bigint NOT NULL DEFAULT 0,
    cancel_action text CHECK (cancel_action IN ('interrupt', 'rollback')),
    strategy text NOT NULL CHECK (strategy IN ('agent_session', 'event_log')),
    multitask text NOT NULL DEFAULT 'enqueue',
    temporary boolean NOT NULL DEFAULT false,
    hidden boolean NOT NULL DEFAULT false,
    metadata jsonb NOT NULL DEFAULT '{}',
    request text NOT NULL,
    answer text,
    entry text,
    output text,
    error text,
    idempotency_key text,
    request_hash text,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    -- The key of the fence: a claim changes it, a heartbeat does not.
    UNIQUE (run_id, attempt),
    CHECK ((status = 'running') = (lease_expires_at IS NOT NULL)),
    CHECK ((status = 'running') = (worker_id IS NOT NULL)),
    CHECK ((status IN ('pending', 'running')) = (finished_at IS NULL)),
    CHECK (status <> 'running' OR attempt > 0)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running';
CREATE INDEX runs_of_thread ON runs (thread_id, ticket);
CREATE INDEX runs_open ON runs (created_at) WHERE status IN ('pending', 'running');
CREATE UNIQUE INDEX runs_idempotency ON runs (owner_id, idempotency_key)
    WHERE idempotency_key IS NOT NULL;

CREATE TABLE events (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    seq bigint NOT NULL,
    attempt integer NOT NULL,
    name text NOT NULL,
    data text NOT NULL,
    task_id text,
    checkpoint_id text,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, seq)
);

CREATE TABLE responses (
    response_id text PRIMARY KEY,
    run_id uuid NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE,
    terminal text,
    deleted boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE workers (
    worker_id text PRIMARY KEY,
    lock_key integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    expires_at timestamptz NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now()
);

-- Who holds a session lock right now. UNLOGGED on purpose: a crash restart or a fail-over
-- frees every session lock and empties this table, so nobody is robbed for it.
CREATE UNLOGGED TABLE worker_locks (
    worker_id text PRIMARY KEY,
    lock_key integer NOT NULL,
    postmaster_started_at timestamptz NOT NULL
);

-- When a thread that has just been used is due to be swept: ten minutes after its last run for a
-- temporary one, so that a client that was cut off still gets its result; else by its own ttl.
CREATE FUNCTION thread_expiry(temporary boolean, ttl_minutes double precision)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT now() + make_interval(secs => CASE WHEN temporary THEN 600 ELSE ttl_minutes * 60 END)
$$;

-- Refuses (SQLSTATE LG001) unless every run named is running under exactly that attempt, and
-- keeps it so until commit: a claim takes FOR UPDATE on the same rows, so it waits or skips.
-- NO KEY UPDATE, since the batch renews these very rows; heartbeats SKIP LOCKED around it.
CREATE FUNCTION fence(ids uuid[], attempts integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    held integer;
BEGIN
    PERFORM 1
    FROM runs r
    JOIN unnest(ids, attempts) AS w (run_id, attempt)
        ON r.run_id = w.run_id AND r.attempt = w.attempt
    WHERE r.status = 'running'
    ORDER BY r.run_id
    FOR NO KEY UPDATE OF r;
    GET DIAGNOSTICS held = ROW_COUNT;
    IF held <> cardinality(ids) THEN
        RAISE EXCEPTION 'the run is owned by another attempt' USING ERRCODE = 'LG001';
    END IF;
END $$;
