-- Those who look for runs that are executed must not read all that wait, even where the planner does
-- not know yet that there are so many.
DROP INDEX runs_open;

CREATE INDEX runs_open ON runs (status, created_at) WHERE status IN ('pending', 'running');
