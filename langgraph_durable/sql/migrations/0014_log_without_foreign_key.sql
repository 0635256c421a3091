-- Whoever appends to a log holds the row of its run: to look that up again for every event was a
-- third of what an append costs. The log still goes with its run.
ALTER TABLE events DROP CONSTRAINT events_run_id_fkey;

CREATE FUNCTION forget_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM events e USING gone g WHERE e.run_id = g.run_id;
    RETURN NULL;
END $$;

CREATE TRIGGER forget_events AFTER DELETE ON runs
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_events();
