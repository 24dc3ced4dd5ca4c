-- The keys of all actions, newest first, from a cursor on.
SELECT a.action_id, a.at
  FROM jobtop.actions a
 WHERE (a.at, a.action_id) < (@after_at::text::timestamptz, @after_id::text::uuid)
   AND a.at >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond'
 ORDER BY a.at DESC, a.action_id DESC LIMIT @bound::bigint;
