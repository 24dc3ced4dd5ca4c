-- Receipts in each of the last whole minutes, the oldest first. A minute with more than the sample is told by
-- how soon the sample was full. Whole minutes of the clock, so that a bar does not move once it stands.
SELECT CASE WHEN r.found < @sample::bigint THEN r.found
            ELSE (r.found * 60000000.0 / greatest(extract(epoch FROM r.last - b.start) * 1000000, 1))::bigint END,
       r.found >= @sample::bigint
  FROM (SELECT n, date_trunc('minute', statement_timestamp()) - n * interval '1 minute' AS start FROM generate_series(1, @minutes::int) n) b
 CROSS JOIN LATERAL (SELECT count(*) AS found, max(s.recorded_at) AS last
                       FROM (SELECT r.recorded_at FROM jobtop.receipts r
                              WHERE r.recorded_at >= b.start AND r.recorded_at < b.start + interval '1 minute'
                              ORDER BY r.recorded_at LIMIT @sample::bigint) s) r
 ORDER BY b.n DESC;
