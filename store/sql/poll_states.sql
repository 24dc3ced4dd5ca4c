-- How many jobs are in each open state, and how long the first of them has been in it. From the index of
-- open jobs alone, and no further than a bound, so that a million waiting jobs cost what ten thousand do.
SELECT s.state, n.found, (extract(epoch FROM statement_timestamp() - o.state_changed_at) * 1000000)::bigint
  FROM unnest(ARRAY['pending', 'running', 'failed', 'review', 'dead']) AS s(state)
 CROSS JOIN LATERAL (SELECT count(*) AS found
                       FROM (SELECT FROM jobtop.jobs j
                              WHERE j.state = s.state AND j.state <> 'done'
                              ORDER BY j.state_changed_at LIMIT @bound::bigint + 1) counted) n
  LEFT JOIN LATERAL (SELECT j.state_changed_at
                       FROM jobtop.jobs j
                      WHERE j.state = s.state AND j.state <> 'done'
                      ORDER BY j.state_changed_at LIMIT 1) o ON true;
