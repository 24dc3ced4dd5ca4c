-- How many jobs are in each open state but running, and how long the first of them has been in it. From the
-- index of open jobs alone, in one pass and no further than a bound, so that a million waiting jobs cost what
-- ten thousand do.
SELECT s.state, n.found, (extract(epoch FROM statement_timestamp() - n.oldest) * 1000000)::bigint
  FROM unnest(ARRAY['pending', 'failed', 'review', 'dead']) AS s(state)
 CROSS JOIN LATERAL (SELECT count(*) AS found, min(c.state_changed_at) AS oldest
                       FROM (SELECT j.state_changed_at FROM jobtop.jobs j
                              WHERE j.state = s.state AND j.state <> 'done'
                              ORDER BY j.state_changed_at LIMIT @bound::bigint + 1) c) n;
