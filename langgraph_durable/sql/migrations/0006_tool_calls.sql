-- The ledger: every guarded call, written before it begins and again when its result is known.
CREATE TABLE tool_calls (
    key text PRIMARY KEY,
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    checkpoint_thread_id text NOT NULL,
    attempt integer NOT NULL,
    tool text NOT NULL,
    arguments text NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'confirmed', 'failed')),
    result text,
    used_by text,
    position bigint GENERATED ALWAYS AS IDENTITY,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX tool_calls_alike ON tool_calls (run_id, tool, arguments);
