-- Jobs in any state whose id begins with something, by id. The pattern is escaped by the caller.
SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
       CASE WHEN j.state = 'running'
            THEN jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp()) END AS stuck_for
  FROM jobtop.jobs j
 WHERE j.id LIKE @pattern::text AND j.id > @after_id::text
 ORDER BY j.id LIMIT (SELECT @bound::bigint);
