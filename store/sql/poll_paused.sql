-- The kinds that no worker may claim now.
SELECT p.kind, p.by, p.reason, (extract(epoch FROM statement_timestamp() - p.since) * 1000000)::bigint,
       CASE WHEN p.until IS NOT NULL
            THEN (extract(epoch FROM least(p.until, statement_timestamp() + interval '100 years') - statement_timestamp()) * 1000000)::bigint END
  FROM jobtop.paused p
 WHERE p.until IS NULL OR p.until > statement_timestamp()
 ORDER BY p.kind;
