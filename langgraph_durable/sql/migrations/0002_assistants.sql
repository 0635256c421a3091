-- Assistants: a graph with defaults for its runs. What an assistant says is in its versions,
-- which never change; its own row only tells which of them holds now.

CREATE TABLE assistants (
    assistant_id text PRIMARY KEY,
    version integer NOT NULL DEFAULT 1,
    owner_id text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE assistant_versions (
    assistant_id text NOT NULL REFERENCES assistants ON DELETE CASCADE,
    version integer NOT NULL CHECK (version > 0),
    graph_id text NOT NULL,
    name text NOT NULL,
    description text,
    config jsonb NOT NULL DEFAULT '{}',
    context jsonb NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (assistant_id, version)
);

CREATE VIEW current_assistants AS
SELECT a.assistant_id, a.owner_id, a.version, v.graph_id, v.name, v.description,
       v.config, v.context, v.metadata, a.created_at, a.updated_at
FROM assistants a JOIN assistant_versions v USING (assistant_id, version);
