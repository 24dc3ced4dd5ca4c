-- How many jobs are done: counted by their receipts while there are few, else what the planner's
-- statistics say of all jobs, and of the open ones where those were too many to count.
WITH known AS (
  SELECT (SELECT c.reltuples FROM pg_catalog.pg_class c WHERE c.oid = 'jobtop.jobs'::regclass) AS jobs,
         (SELECT c.reltuples FROM pg_catalog.pg_class c WHERE c.oid = 'jobtop.jobs_open'::regclass) AS open
)
SELECT CASE WHEN k.jobs < 4 * @bound::bigint
            THEN (SELECT count(*) FROM (SELECT FROM jobtop.receipts r ORDER BY r.recorded_at LIMIT @bound::bigint + 1) counted) END,
       k.jobs::bigint, k.open::bigint,
       (extract(epoch FROM statement_timestamp() - (SELECT r.recorded_at FROM jobtop.receipts r ORDER BY r.recorded_at LIMIT 1)) * 1000000)::bigint
  FROM known k;
