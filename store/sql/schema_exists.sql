-- Whether this database has a jobtop schema, and whether we may read its version.
SELECT v.oid IS NOT NULL, coalesce(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(v.oid, 'SELECT'), false)
  FROM (SELECT) one
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'jobtop'
  LEFT JOIN pg_catalog.pg_class v ON v.relnamespace = n.oid AND v.relname = 'schema_version';
