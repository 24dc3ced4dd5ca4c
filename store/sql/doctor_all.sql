-- The next ids of all jobs, for a walk that ends.
SELECT j.id FROM jobtop.jobs j WHERE j.id > @after::text ORDER BY j.id LIMIT @limit::bigint;
