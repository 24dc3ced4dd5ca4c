-- Whom we talk to, and what our role may do there. Looks names up in the catalog, so that a schema that
-- is missing or another one is an answer, not an error.
WITH names AS (
  SELECT n.oid FROM pg_catalog.pg_namespace n
   WHERE n.nspname = 'jobtop' AND has_schema_privilege(n.oid, 'USAGE')
), columns AS (
  SELECT c.relname, a.attname, has_column_privilege(c.oid, a.attnum, 'SELECT') AS readable
    FROM names n
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
   WHERE (c.relname, a.attname) IN (('jobs', 'state'), ('jobs', 'payload'), ('attempts', 'outcome'), ('receipts', 'receipt_id'),
                                    ('actions', 'verb'), ('edges', 'actor'), ('paused', 'kind'), ('schema_version', 'version_id'))
), functions AS (
  SELECT p.proname, bool_and(has_function_privilege(p.oid, 'EXECUTE')) AS callable
    FROM names n JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid
   WHERE p.proname IN ('evidence', 'stuck_for', 'last_change', 'act', 'settle', 'claim', 'complete')
   GROUP BY p.proname
)
SELECT current_database(), current_user::text, current_setting('server_version_num')::integer, pg_is_in_recovery(),
       current_setting('default_transaction_read_only')::boolean,
       EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'jobtop' AND c.relname = 'schema_version'),
       (SELECT count(*) = 7 AND bool_and(c.readable) FROM columns c WHERE c.attname <> 'payload')
         AND (SELECT count(*) = 3 AND bool_and(f.callable) FROM functions f WHERE f.proname IN ('evidence', 'stuck_for', 'last_change')),
       (SELECT count(*) = 2 AND bool_and(f.callable) FROM functions f WHERE f.proname IN ('act', 'settle')),
       (SELECT count(*) = 1 AND bool_and(c.readable) FROM columns c WHERE c.attname = 'payload'),
       (SELECT count(*) = 2 AND bool_and(f.callable) FROM functions f WHERE f.proname IN ('claim', 'complete'));
