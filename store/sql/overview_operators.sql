-- How often operators, or hands past the functions, took each edge lately.
WITH recent AS MATERIALIZED (
  SELECT a.job_id, a.from_state, a.to_state, a.outcome, a.at
    FROM jobtop.actions a
   WHERE a.at > statement_timestamp() - @window::bigint * interval '1 microsecond'
   ORDER BY a.at DESC, a.action_id DESC LIMIT @sample::bigint
), span AS MATERIALIZED (
  SELECT CASE WHEN count(*) < @sample::bigint THEN statement_timestamp() - @window::bigint * interval '1 microsecond'
              ELSE min(r.at) END AS start,
         count(*) >= @sample::bigint AS sampled
    FROM recent r
)
SELECT r.from_state, r.to_state, count(*), (extract(epoch FROM statement_timestamp() - min(s.start)) * 1000000)::bigint, bool_or(s.sampled)
  FROM recent r, span s
 WHERE r.outcome = 'applied' AND r.job_id IS NOT NULL
 GROUP BY r.from_state, r.to_state;
