-- How many jobs wait and are due, those of paused kinds too, and how long the first has waited. Kind by kind, as a
-- claim finds them: each kind and its first job by hopping along the queue's index, then a range from there on. So
-- what an old snapshot keeps as dead entries before the first is passed once. run_at may be set by hand to any
-- moment; what lies a lifetime back is bounded.
WITH RECURSIVE kinds (kind, run_at) AS (
  (SELECT j.kind, j.run_at FROM jobtop.jobs j WHERE j.state IN ('pending', 'failed') ORDER BY j.kind, j.run_at LIMIT 1)
  UNION ALL
  SELECT n.kind, n.run_at
    FROM kinds k
   CROSS JOIN LATERAL (SELECT j.kind, j.run_at FROM jobtop.jobs j
                        WHERE j.state IN ('pending', 'failed') AND j.kind > k.kind
                        ORDER BY j.kind, j.run_at LIMIT 1) n
), known AS MATERIALIZED (
  SELECT k.kind, k.run_at FROM kinds k LIMIT @kinds::bigint + 1
)
SELECT (SELECT count(*) FROM known),
       (SELECT count(*)
          FROM (SELECT FROM known k
                 CROSS JOIN LATERAL (SELECT FROM jobtop.jobs j
                                      WHERE j.state IN ('pending', 'failed') AND j.kind = k.kind
                                        AND j.run_at >= k.run_at AND j.run_at <= statement_timestamp()
                                      ORDER BY j.run_at LIMIT @bound::bigint + 1) due
                 LIMIT @bound::bigint + 1) counted),
       (SELECT (extract(epoch FROM max(statement_timestamp() - greatest(k.run_at, statement_timestamp() - interval '100 years'))) * 1000000)::bigint
          FROM known k WHERE k.run_at <= statement_timestamp());
