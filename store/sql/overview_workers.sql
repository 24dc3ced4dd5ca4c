-- How often workers took each edge lately: from the attempts that ended in the window, newest first up to a
-- sample, and from the claims that still run. Where the sample was full, the span is what it reaches back.
WITH recent AS MATERIALIZED (
  SELECT t.claimed_from, t.claimed_at, t.finished_at, t.outcome, t.to_state
    FROM jobtop.attempts t
   WHERE t.finished_at > statement_timestamp() - @window::bigint * interval '1 microsecond'
   ORDER BY t.finished_at DESC LIMIT @sample::bigint
), span AS MATERIALIZED (
  SELECT CASE WHEN count(*) < @sample::bigint THEN statement_timestamp() - @window::bigint * interval '1 microsecond'
              ELSE min(r.finished_at) END AS start,
         count(*) >= @sample::bigint AS sampled
    FROM recent r
), running AS MATERIALIZED (
  SELECT j.id, j.attempt
    FROM jobtop.jobs j
   WHERE j.state = 'running' AND j.state_changed_at > (SELECT s.start FROM span s) -- where the index is entered
   ORDER BY j.state_changed_at DESC LIMIT @sample::bigint
), moves AS (
  SELECT 'running' AS from_state, r.to_state FROM recent r WHERE r.outcome <> 'fenced'
  UNION ALL
  SELECT r.claimed_from, 'running' FROM recent r, span s WHERE r.claimed_at > s.start
  UNION ALL
  SELECT c.claimed_from, 'running'
    FROM running g
   CROSS JOIN LATERAL (SELECT t.claimed_from FROM jobtop.attempts t WHERE t.job_id = g.id AND t.attempt = g.attempt OFFSET 0) c -- one by one
)
SELECT m.from_state, m.to_state, count(*), (extract(epoch FROM statement_timestamp() - min(s.start)) * 1000000)::bigint, bool_or(s.sampled)
  FROM moves m, span s
 GROUP BY m.from_state, m.to_state;
