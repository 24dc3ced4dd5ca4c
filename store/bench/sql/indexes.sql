-- The constraints that keep an index or need one, and the other indexes: how each is dropped and made again.
-- The order is that of making.
SELECT o.tab, o.drop, o.make
  FROM (SELECT c.conrelid::regclass::text AS tab,
               format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname) AS drop,
               format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS make,
               CASE WHEN c.contype = 'f' THEN 2 ELSE 0 END AS rank, c.conname AS name
          FROM pg_constraint c
         WHERE c.connamespace = 'jobtop'::regnamespace AND c.contype IN ('p', 'u', 'f') AND c.conrelid::regclass = ANY (@tables::text[]::regclass[])
        UNION ALL
        SELECT x.indrelid::regclass::text, format('DROP INDEX %s', x.indexrelid::regclass), pg_get_indexdef(x.indexrelid), 1, x.indexrelid::regclass::text
          FROM pg_index x
         WHERE x.indrelid::regclass = ANY (@tables::text[]::regclass[])
           AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u'))) o
 ORDER BY o.rank, o.tab, o.name;
