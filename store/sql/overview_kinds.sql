-- What each kind has waiting, open and lately done. The kinds that wait are found by hopping along the queue's
-- index; of each open state so many jobs are counted as the bound says, those longest in it first; durations and
-- failures come from a sample of the attempts that ended in the window.
WITH RECURSIVE hops (kind, run_at) AS (
  (SELECT j.kind, j.run_at FROM jobtop.jobs j WHERE j.state IN ('pending', 'failed') ORDER BY j.kind, j.run_at LIMIT 1)
  UNION ALL
  SELECT n.kind, n.run_at
    FROM hops h
   CROSS JOIN LATERAL (SELECT j.kind, j.run_at FROM jobtop.jobs j
                        WHERE j.state IN ('pending', 'failed') AND j.kind > h.kind
                        ORDER BY j.kind, j.run_at LIMIT 1) n
), waiting AS MATERIALIZED (
  SELECT h.kind, h.run_at FROM hops h LIMIT @kinds::bigint
), open AS MATERIALIZED (
  SELECT s.state, j.kind, count(*) AS n
    FROM unnest(ARRAY['running', 'failed', 'review', 'dead']) AS s(state)
   CROSS JOIN LATERAL (SELECT j.kind FROM jobtop.jobs j
                        WHERE j.state = s.state AND j.state <> 'done'
                        ORDER BY j.state_changed_at LIMIT @bound::bigint) j
   GROUP BY s.state, j.kind
), recent AS MATERIALIZED (
  SELECT t.job_id, t.claimed_at, t.finished_at, t.to_state
    FROM jobtop.attempts t
   WHERE t.finished_at > statement_timestamp() - @window::bigint * interval '1 microsecond'
   ORDER BY t.finished_at DESC LIMIT @sample::bigint
), span AS MATERIALIZED (
  SELECT CASE WHEN count(*) < @sample::bigint THEN statement_timestamp() - @window::bigint * interval '1 microsecond'
              ELSE min(r.finished_at) END AS start,
         count(*) >= @sample::bigint AS sampled
    FROM recent r
), ended AS MATERIALIZED (
  SELECT j.kind, count(*) AS n,
         count(*) FILTER (WHERE r.to_state = 'done') AS done,
         percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY extract(epoch FROM r.finished_at - r.claimed_at) * 1000000)
           FILTER (WHERE r.to_state = 'done') AS took
    FROM recent r
   CROSS JOIN LATERAL (SELECT k.kind FROM jobtop.jobs k WHERE k.id = r.job_id) j
   GROUP BY j.kind
), names AS (
  SELECT w.kind FROM waiting w UNION SELECT o.kind FROM open o UNION SELECT e.kind FROM ended e
   UNION SELECT p.kind FROM jobtop.paused p WHERE p.until IS NULL OR p.until > statement_timestamp()
)
SELECT n.kind,
       (SELECT count(*) FROM waiting w
         CROSS JOIN LATERAL (SELECT FROM jobtop.jobs j
                              WHERE j.state IN ('pending', 'failed') AND j.kind = w.kind AND j.run_at >= w.run_at AND j.run_at <= statement_timestamp()
                              ORDER BY j.run_at LIMIT @bound::bigint + 1) due
         WHERE w.kind = n.kind),
       (SELECT (extract(epoch FROM statement_timestamp() - greatest(w.run_at, statement_timestamp() - interval '100 years')) * 1000000)::bigint
          FROM waiting w WHERE w.kind = n.kind AND w.run_at <= statement_timestamp()),
       coalesce((SELECT o.n FROM open o WHERE o.state = 'running' AND o.kind = n.kind), 0),
       coalesce((SELECT o.n FROM open o WHERE o.state = 'failed' AND o.kind = n.kind), 0),
       coalesce((SELECT o.n FROM open o WHERE o.state = 'review' AND o.kind = n.kind), 0),
       coalesce((SELECT o.n FROM open o WHERE o.state = 'dead' AND o.kind = n.kind), 0),
       coalesce(e.n, 0), coalesce(e.done, 0), e.took[1]::bigint, e.took[2]::bigint,
       (extract(epoch FROM statement_timestamp() - s.start) * 1000000)::bigint, s.sampled,
       ARRAY(SELECT o.state FROM open o GROUP BY o.state HAVING sum(o.n) >= @bound::bigint)
  FROM names n CROSS JOIN span s LEFT JOIN ended e ON e.kind = n.kind
 ORDER BY n.kind LIMIT @kinds::bigint;
