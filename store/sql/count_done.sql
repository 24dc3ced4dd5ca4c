-- The next slice of the done jobs, from a place on, by their receipts, of which each has one: the last of its
-- rows, to go on from there; only whole slices of what was recorded before a moment. Where there is none left, how
-- many receipts there are from there on at all, no further than a bound.
SELECT (extract(epoch FROM l.at) * 1000000)::bigint, l.id,
       CASE WHEN l.id IS NULL
            THEN (SELECT count(*) FROM (SELECT FROM jobtop.receipts r
                                         WHERE (r.recorded_at, r.job_id) > (@after_at::text::timestamptz, @after_id::text)
                                         ORDER BY r.recorded_at, r.job_id LIMIT (SELECT @bound::bigint)) counted) END,
       (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint
  FROM (VALUES (1)) always
  LEFT JOIN LATERAL (SELECT r.recorded_at AS at, r.job_id AS id FROM jobtop.receipts r
                      WHERE (r.recorded_at, r.job_id) > (@after_at::text::timestamptz, @after_id::text)
                        AND r.recorded_at <= @before::text::timestamptz
                      ORDER BY r.recorded_at, r.job_id OFFSET (SELECT @rows::bigint - 1) LIMIT 1) l ON true;
