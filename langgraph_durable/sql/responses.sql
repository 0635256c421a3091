-- save --
-- The terminal object is stored once. No index is named: to name one makes a conflict on the other
-- an error to whoever comes at the same time.
INSERT INTO responses (response_id, run_id, terminal, item_ids)
VALUES (%(response_id)s, %(run_id)s, %(terminal)s, %(item_ids)s)
ON CONFLICT DO NOTHING
RETURNING terminal

-- save_again --
-- Whoever comes second reads the first. Of one that was deleted nothing is stored again.
UPDATE responses
SET terminal = CASE WHEN NOT deleted THEN coalesce(terminal, %(terminal)s) END,
    item_ids = %(item_ids)s
WHERE response_id = %(response_id)s
RETURNING coalesce(terminal, %(terminal)s) AS terminal

-- stored --
-- The stored terminal object.
SELECT terminal FROM responses WHERE response_id = %(response_id)s AND NOT deleted

-- showing --
-- The terminal object that shows an item, for each of these: the latest one.
SELECT item_id, held.terminal
FROM unnest(%(item_ids)s::text[]) AS item_id
CROSS JOIN LATERAL (
    SELECT terminal FROM responses
    WHERE item_ids @> ARRAY[item_id] AND terminal IS NOT NULL AND NOT deleted
    ORDER BY created_at DESC
    LIMIT 1
) AS held

-- delete --
-- Hide a response; its run stays for the other door.
INSERT INTO responses (response_id, run_id, deleted) VALUES (%(response_id)s, %(run_id)s, true)
ON CONFLICT DO NOTHING

-- delete_again --
-- Hide one that is stored.
UPDATE responses SET deleted = true, terminal = NULL WHERE response_id = %(response_id)s

-- deleted --
-- Is the response hidden?
SELECT deleted FROM responses WHERE run_id = %(run_id)s

-- items --
-- What was put into a conversation by hand, or taken out of it, oldest first.
SELECT item_id, item FROM conversation_items WHERE thread_id = %(thread_id)s ORDER BY position

-- put_item --
-- Put an item into a conversation, or take it out.
INSERT INTO conversation_items (thread_id, item_id, item)
VALUES (%(thread_id)s, %(item_id)s, %(item)s)
ON CONFLICT (thread_id, item_id) DO UPDATE SET item = EXCLUDED.item

-- copy_items --
-- What was taken out of a conversation stays out of its copy; what was put in comes with the whole.
INSERT INTO conversation_items (thread_id, item_id, item)
SELECT %(name)s, item_id, item FROM conversation_items
WHERE thread_id = %(thread_id)s AND (%(whole)s OR item IS NULL)
ORDER BY position
