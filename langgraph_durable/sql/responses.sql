-- save --
-- The terminal object is stored once; whoever comes second reads the first. Of one that was deleted
-- nothing is stored again. The primary key arbitrates: it is the first index to be written, and a
-- conflict on an index that does not arbitrate is an error to whoever comes at the same time.
INSERT INTO responses AS held (response_id, run_id, terminal, item_ids)
VALUES (%(response_id)s, %(run_id)s, %(terminal)s, %(item_ids)s)
ON CONFLICT (response_id) DO UPDATE
    SET terminal = CASE WHEN NOT held.deleted THEN coalesce(held.terminal, EXCLUDED.terminal) END,
        item_ids = EXCLUDED.item_ids
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
ON CONFLICT (response_id) DO UPDATE SET deleted = true, terminal = NULL

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
