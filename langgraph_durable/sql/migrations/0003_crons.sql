-- Crons: runs that are submitted again and again, each time at the next date of a schedule.
-- A cron without a next date fires no more: its end has come.

CREATE TABLE crons (
    cron_id text PRIMARY KEY,
    owner_id text NOT NULL DEFAULT '',
    assistant_id text NOT NULL REFERENCES assistants ON DELETE CASCADE,
    thread_id text REFERENCES threads ON DELETE CASCADE,
    schedule text NOT NULL,
    timezone text,
    end_time timestamptz,
    enabled boolean NOT NULL DEFAULT true,
    metadata jsonb NOT NULL DEFAULT '{}',
    payload text NOT NULL,
    request text NOT NULL,
    next_run_date timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX crons_due ON crons (next_run_date) WHERE enabled AND next_run_date IS NOT NULL;
CREATE INDEX crons_of_thread ON crons (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX crons_of_assistant ON crons (assistant_id);
CREATE INDEX crons_metadata ON crons USING gin (metadata jsonb_path_ops);
