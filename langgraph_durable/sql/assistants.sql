-- get --
-- An assistant of a graph that is served here.
SELECT * FROM current_assistants
WHERE assistant_id = %(assistant_id)s AND graph_id = ANY(%(served)s)

-- insert --
-- A new assistant and its first version; nothing when the id is taken.
WITH made AS (
    INSERT INTO assistants (assistant_id) VALUES (%(assistant_id)s)
    ON CONFLICT DO NOTHING
    RETURNING assistant_id
)
INSERT INTO assistant_versions
    (assistant_id, version, graph_id, name, description, config, context, metadata)
SELECT assistant_id, 1, %(graph_id)s, %(name)s, %(description)s, %(config)s, %(context)s,
       %(metadata)s
FROM made
RETURNING assistant_id

-- describe --
-- The first version of a graph's own assistant follows the project's description.
UPDATE assistant_versions SET description = %(description)s
WHERE assistant_id = %(assistant_id)s AND version = 1
  AND description IS DISTINCT FROM %(description)s::text

-- lock --
-- An assistant under its lock: its versions get their numbers one after the other.
SELECT 1 FROM assistants WHERE assistant_id = %(assistant_id)s FOR NO KEY UPDATE

-- add_version --
-- One more version, which holds from now on.
WITH added AS (
    INSERT INTO assistant_versions
        (assistant_id, version, graph_id, name, description, config, context, metadata)
    SELECT %(assistant_id)s, max(version) + 1, %(graph_id)s, %(name)s, %(description)s,
           %(config)s, %(context)s, %(metadata)s
    FROM assistant_versions WHERE assistant_id = %(assistant_id)s
    RETURNING version
)
UPDATE assistants SET version = added.version, updated_at = now()
FROM added WHERE assistant_id = %(assistant_id)s

-- set_version --
-- Another version holds from now on; nothing when there is no such version of a served graph.
UPDATE assistants a SET version = v.version, updated_at = now()
FROM assistant_versions v
WHERE a.assistant_id = %(assistant_id)s AND v.assistant_id = a.assistant_id
  AND v.version = %(version)s AND v.graph_id = ANY(%(served)s)
RETURNING a.assistant_id

-- versions --
-- Newest first.
SELECT assistant_id, version, graph_id, name, description, config, context, metadata,
       created_at, created_at AS updated_at
FROM assistant_versions
WHERE assistant_id = %(assistant_id)s AND metadata @> %(metadata)s
ORDER BY version DESC LIMIT %(limit)s OFFSET %(offset)s

-- delete --
-- The assistant with all its versions.
DELETE FROM assistants WHERE assistant_id = %(assistant_id)s RETURNING assistant_id

-- lock_threads --
-- The threads that last ran with an assistant, locked until commit.
SELECT thread_id FROM threads
WHERE metadata @> jsonb_build_object('assistant_id', %(assistant_id)s::text)
ORDER BY thread_id FOR NO KEY UPDATE

-- count --
-- How many assistants match.
SELECT count(*) AS total FROM current_assistants
WHERE graph_id = ANY(%(served)s) AND metadata @> %(metadata)s
  AND (%(graph_id)s::text IS NULL OR graph_id = %(graph_id)s)
  AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN lower(name)) > 0)

-- search --
-- The page of them, in an order that is put in.
SELECT * FROM current_assistants
WHERE graph_id = ANY(%(served)s) AND metadata @> %(metadata)s
  AND (%(graph_id)s::text IS NULL OR graph_id = %(graph_id)s)
  AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN lower(name)) > 0)
ORDER BY {order}
LIMIT %(limit)s OFFSET %(offset)s
