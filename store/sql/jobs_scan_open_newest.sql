-- Open jobs, newest in their state first, from a cursor on and no further than a bound: an ordered piece
-- of the index of open jobs for each state, merged. The bound is hidden from the planner, which would
-- plan for reaching it and sort all there is, where mostly a page is full long before.
SELECT o.* FROM (
  (SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          NULL::interval AS stuck_for
     FROM jobtop.jobs j WHERE j.state = 'pending' AND 'pending' = ANY (@states::text[])
     ORDER BY j.state_changed_at DESC, j.id DESC)
  UNION ALL
  (SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp())
     FROM jobtop.jobs j WHERE j.state = 'running' AND 'running' = ANY (@states::text[])
     ORDER BY j.state_changed_at DESC, j.id DESC)
  UNION ALL
  (SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          NULL
     FROM jobtop.jobs j WHERE j.state = 'failed' AND 'failed' = ANY (@states::text[])
     ORDER BY j.state_changed_at DESC, j.id DESC)
  UNION ALL
  (SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          NULL
     FROM jobtop.jobs j WHERE j.state = 'review' AND 'review' = ANY (@states::text[])
     ORDER BY j.state_changed_at DESC, j.id DESC)
  UNION ALL
  (SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          NULL
     FROM jobtop.jobs j WHERE j.state = 'dead' AND 'dead' = ANY (@states::text[])
     ORDER BY j.state_changed_at DESC, j.id DESC)
) o
 WHERE (o.at, o.id) < (@after_at::text::timestamptz, @after_id::text)
   AND o.at < statement_timestamp() - @older_than::bigint * interval '1 microsecond'
   AND o.at >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond'
 ORDER BY o.at DESC, o.id DESC LIMIT (SELECT @bound::bigint);
