-- About how many rows a count of everything reads, as the planner's statistics have it: the open jobs, and the
-- receipts of the done ones. Below zero while they have nothing.
SELECT (SELECT c.reltuples FROM pg_catalog.pg_class c WHERE c.oid = 'jobtop.jobs_open'::regclass)::bigint,
       (SELECT c.reltuples FROM pg_catalog.pg_class c WHERE c.oid = 'jobtop.receipts'::regclass)::bigint;
