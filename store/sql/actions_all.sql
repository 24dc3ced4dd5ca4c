-- All actions, newest first, from a cursor on and no further than a bound (hidden from the planner, see
-- jobs_scan_state_oldest.sql).
SELECT a.*
  FROM jobtop.actions a
 WHERE (a.at, a.action_id) < (@after_at::text::timestamptz, @after_id::text::uuid)
   AND a.at >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond'
 ORDER BY a.at DESC, a.action_id DESC LIMIT (SELECT @bound::bigint);
