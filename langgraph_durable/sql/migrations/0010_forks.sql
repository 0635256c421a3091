-- Where a thread that goes on from the middle of another one left that: behind which of its runs.
--
-- Nothing is needed by whoever does not know it: servers of the release before go on working.
ALTER TABLE threads ADD COLUMN forked_behind uuid;

CREATE INDEX threads_forks ON threads (forked_behind) WHERE forked_behind IS NOT NULL;
