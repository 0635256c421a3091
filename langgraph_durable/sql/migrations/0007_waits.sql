-- Runs that sleep, and the signals that wake them. A run's rows in `waits` are what it waits for:
-- they are written with LangGraph's own interrupts, so that time counts from there.
--
-- Columns are only added and none is needed by whoever does not know it: servers of the release
-- before go on working on this schema.

ALTER TABLE runs
    -- Suspended: nothing of it runs. Until its next attempt has noted what woke it.
    ADD COLUMN asleep boolean NOT NULL DEFAULT false,
    -- Ids of the questions to people that are open beside its waits.
    ADD COLUMN asks text[] NOT NULL DEFAULT '{}',
    -- `entry` is that of the latest wake-up; this is the one to roll back to.
    ADD COLUMN first_entry text;

CREATE INDEX runs_asking ON runs (thread_id) WHERE status = 'pending' AND asleep AND asks <> '{}';

CREATE TABLE waits (
    run_id uuid NOT NULL REFERENCES runs ON DELETE CASCADE,
    interrupt_id text NOT NULL,
    -- The name of the signal that ends it; a sleep has none.
    signal text,
    due_at timestamptz NOT NULL,
    position bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (run_id, interrupt_id)
);

CREATE TABLE signals (
    thread_id text NOT NULL REFERENCES threads ON DELETE CASCADE,
    name text NOT NULL,
    signal_id text NOT NULL,
    value text NOT NULL,
    -- The run whose wait got it.
    taken_by uuid,
    position bigint GENERATED ALWAYS AS IDENTITY,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (thread_id, name, signal_id)
);

CREATE INDEX signals_open ON signals (thread_id, name, position) WHERE taken_by IS NULL;

-- When a wait without a time-out is due. Drivers cannot read 'infinity'.
CREATE FUNCTION never() RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
    $$ SELECT timestamptz '9000-01-01 00:00:00+00' $$;

-- A run's waits, each with the signal that is there for it: the first wait of a name gets the
-- thread's first signal of that name, the second the second.
CREATE FUNCTION waits_of(run uuid, thread text)
RETURNS TABLE (interrupt_id text, due_at timestamptz, "position" bigint, value text)
LANGUAGE sql STABLE AS $$
    SELECT w.interrupt_id, w.due_at, s.position, s.value
    FROM (SELECT *, row_number() OVER (PARTITION BY signal ORDER BY position) AS place
          FROM waits WHERE run_id = run) AS w
    LEFT JOIN (SELECT *, row_number() OVER (PARTITION BY name ORDER BY position) AS place
               FROM signals WHERE thread_id = thread AND taken_by IS NULL) AS s
        ON s.name = w.signal AND s.place = w.place
$$;
