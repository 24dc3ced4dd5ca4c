-- Lets one person at a time apply the schema to this database; held until the transaction ends,
-- so that it also works through a pooler in transaction mode.
SELECT pg_catalog.pg_advisory_xact_lock(7106111, 1);
