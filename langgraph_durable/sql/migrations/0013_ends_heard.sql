-- Some clients take the first end that they hear on a thread for that of the run they are about to
-- start: servers tell each other which ends a client has heard already.
ALTER TABLE runs ADD COLUMN end_heard_at timestamptz;
