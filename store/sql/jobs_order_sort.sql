-- A page in another order than that of its scan, which is read whole: by time in the state, by id, or the
-- longest past its limit first (by the moment when it passed it, which stays the same while time goes by).
SELECT s.*, k.key
  FROM scanned s
 CROSS JOIN LATERAL (SELECT CASE @order::text
                              WHEN 'id'     THEN 0
                              WHEN 'oldest' THEN (extract(epoch FROM s.at) * 1000000)::bigint
                              WHEN 'newest' THEN -(extract(epoch FROM s.at) * 1000000)::bigint
                              WHEN 'worst'  THEN ((extract(epoch FROM statement_timestamp()) - extract(epoch FROM s.stuck_for)) * 1000000)::bigint
                            END AS key) k
 WHERE (k.key, s.id) > (@sort_key::bigint, @sort_id::text)
 ORDER BY k.key, s.id;
