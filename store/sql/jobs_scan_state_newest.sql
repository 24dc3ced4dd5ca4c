-- Jobs in one open state, newest in it first, from a cursor on and no further than a bound: a piece of the
-- index of open jobs, in its order; pages merge one of each state. The bound is hidden from the planner,
-- which would plan for reaching it and sort all there is, where mostly a page is full long before.
-- It begins at the cursor or at the age asked for, whichever is further on: of two bounds on one side, the
-- index may be entered at the wrong one.
SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
       CASE WHEN j.state = 'running'
            THEN jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp()) END AS stuck_for
  FROM jobtop.jobs j
 WHERE j.state = @state::text AND j.state <> 'done'
   AND (j.state_changed_at, j.id) < (least(@after_at::text::timestamptz, statement_timestamp() - @older_than::bigint * interval '1 microsecond'),
        CASE WHEN @after_at::text::timestamptz <= statement_timestamp() - @older_than::bigint * interval '1 microsecond' THEN @after_id::text ELSE '' END)
   AND j.state_changed_at >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond'
 ORDER BY j.state_changed_at DESC, j.id DESC LIMIT (SELECT @bound::bigint);
