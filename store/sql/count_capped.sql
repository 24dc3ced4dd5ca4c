-- How many jobs are in each of some open states, no further than a bound; all at one moment.
SELECT s.state, n.found
  FROM unnest(@states::text[]) AS s(state)
 CROSS JOIN LATERAL (SELECT count(*) AS found
                       FROM (SELECT FROM jobtop.jobs j
                              WHERE j.state = s.state AND j.state <> 'done'
                              ORDER BY j.state_changed_at, j.id LIMIT (SELECT @bound::bigint + 1)) c) n;
