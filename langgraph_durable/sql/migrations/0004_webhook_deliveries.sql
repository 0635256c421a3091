-- Who is told when a run has ended. A row is made with its run and is due once that has ended;
-- a try moves next_at on before it begins, so that whoever dies in it holds nothing up for long.

CREATE TABLE webhook_deliveries (
    run_id uuid PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    url text NOT NULL,
    payload text,
    attempts integer NOT NULL DEFAULT 0,
    next_at timestamptz DEFAULT now(),
    delivered_at timestamptz,
    last_error text
);

-- Neither delivered nor given up.
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL;
