-- The next slice of the jobs in one open state, from a place on, in the index of open jobs alone: the last of its
-- rows, to go on from there. Where there is no whole slice left, how many rows there are. Skipping rows is cheaper
-- than counting them.
SELECT (extract(epoch FROM l.at) * 1000000)::bigint, l.id,
       CASE WHEN l.id IS NULL
            THEN (SELECT count(*) FROM (SELECT FROM jobtop.jobs j
                                         WHERE j.state = @state::text AND j.state <> 'done'
                                           AND (j.state_changed_at, j.id) > (@after_at::text::timestamptz, @after_id::text)
                                         ORDER BY j.state_changed_at, j.id LIMIT (SELECT @rows::bigint)) counted) END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
  FROM (VALUES (1)) always
  LEFT JOIN LATERAL (SELECT j.state_changed_at AS at, j.id FROM jobtop.jobs j
                      WHERE j.state = @state::text AND j.state <> 'done'
                        AND (j.state_changed_at, j.id) > (@after_at::text::timestamptz, @after_id::text)
                      ORDER BY j.state_changed_at, j.id OFFSET (SELECT @rows::bigint - 1) LIMIT 1) l ON true;
