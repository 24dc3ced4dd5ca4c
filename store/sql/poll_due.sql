-- How many jobs wait and are due, those of paused kinds too, and how long the first has waited. Kind by kind, as a
-- claim finds them: the kinds by hopping along the queue's index, then a range of each. run_at may be set by hand to
-- any moment; what lies a lifetime back is bounded.
WITH RECURSIVE kinds (kind) AS (
  (SELECT j.kind FROM jobtop.jobs j WHERE j.state IN ('pending', 'failed') ORDER BY j.kind LIMIT 1)
  UNION ALL
  SELECT (SELECT j.kind FROM jobtop.jobs j WHERE j.state IN ('pending', 'failed') AND j.kind > k.kind ORDER BY j.kind LIMIT 1)
    FROM kinds k WHERE k.kind IS NOT NULL
), known AS (
  SELECT k.kind FROM kinds k WHERE k.kind IS NOT NULL LIMIT @kinds::bigint + 1
)
SELECT (SELECT count(*) FROM known),
       (SELECT count(*)
          FROM (SELECT FROM known k
                 CROSS JOIN LATERAL (SELECT FROM jobtop.jobs j
                                      WHERE j.state IN ('pending', 'failed') AND j.kind = k.kind AND j.run_at <= statement_timestamp()
                                      ORDER BY j.run_at LIMIT @bound::bigint + 1) due
                 LIMIT @bound::bigint + 1) counted),
       (SELECT (extract(epoch FROM max(statement_timestamp() - greatest(o.run_at, statement_timestamp() - interval '100 years'))) * 1000000)::bigint
          FROM known k
         CROSS JOIN LATERAL (SELECT j.run_at FROM jobtop.jobs j
                              WHERE j.state IN ('pending', 'failed') AND j.kind = k.kind AND j.run_at <= statement_timestamp()
                              ORDER BY j.run_at LIMIT 1) o);
