-- sweep --
-- Items whose time is over; those that somebody is writing wait for the next sweep.
DELETE FROM store WHERE (prefix, key) IN (
    SELECT prefix, key FROM store WHERE expires_at < now() FOR UPDATE SKIP LOCKED)

-- vector_available --
-- Can there be vectors?
SELECT 1 FROM pg_available_extensions WHERE name = 'vector'

-- vector_dimensions --
-- How long the vectors are that this database keeps.
SELECT atttypmod AS dims FROM pg_attribute
WHERE attrelid = 'store_vectors'::regclass AND attname = 'embedding'
