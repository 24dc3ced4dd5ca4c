-- The kinds that no worker may claim now.
SELECT p.kind, p.by, p.reason, (extract(epoch FROM statement_timestamp() - p.since) * 1000000)::bigint,
       (extract(epoch FROM p.until - statement_timestamp()) * 1000000)::bigint
  FROM jobtop.paused p
 WHERE p.until IS NULL OR p.until > statement_timestamp()
 ORDER BY p.kind;
