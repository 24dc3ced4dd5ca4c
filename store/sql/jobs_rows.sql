-- The rows of a page, whole but for what a job carries: errors cut, ages in microseconds, each with its
-- evidence. run_at may be set by hand to any moment; what lies a lifetime off is as good as never.
SELECT f.key, (extract(epoch FROM f.at) * 1000000)::bigint, f.id, f.listed, f.last,
       j.kind, j.state, j.version, j.attempt, j.max_attempts, j.due_for, j.lock_token, j.worker, j.claimed_age, j.heartbeat_age,
       j.heartbeat_timeout, j.progress, j.progress_age, j.progress_timeout, j.effect_key, j.effect_age, j.error_category, j.error_detail,
       j.source_version, j.created_age, j.state_age, j.stuck_for,
       e.verdict, e.attempt, (extract(epoch FROM statement_timestamp() - e.effect_at) * 1000000)::bigint, e.receipt_id, e.recorded_by,
       (extract(epoch FROM statement_timestamp() - e.recorded_at) * 1000000)::bigint, coalesce(e.late, false)
  FROM found f
  LEFT JOIN LATERAL (
    SELECT j.kind, j.state, j.version, j.attempt, j.max_attempts,
           (extract(epoch FROM statement_timestamp() - least(greatest(j.run_at, statement_timestamp() - interval '100 years'),
                                                             statement_timestamp() + interval '100 years')) * 1000000)::bigint AS due_for,
           j.lock_token::text AS lock_token, j.worker,
           (extract(epoch FROM statement_timestamp() - j.claimed_at) * 1000000)::bigint AS claimed_age,
           (extract(epoch FROM statement_timestamp() - j.heartbeat_at) * 1000000)::bigint AS heartbeat_age,
           (extract(epoch FROM j.heartbeat_timeout) * 1000000)::bigint AS heartbeat_timeout,
           j.progress, (extract(epoch FROM statement_timestamp() - j.progress_at) * 1000000)::bigint AS progress_age,
           (extract(epoch FROM j.progress_timeout) * 1000000)::bigint AS progress_timeout,
           j.effect_key, (extract(epoch FROM statement_timestamp() - j.effect_at) * 1000000)::bigint AS effect_age,
           j.error_category, left(j.error_detail, @error_limit::integer) AS error_detail, j.source_version,
           (extract(epoch FROM statement_timestamp() - j.created_at) * 1000000)::bigint AS created_age,
           (extract(epoch FROM statement_timestamp() - j.state_changed_at) * 1000000)::bigint AS state_age,
           CASE WHEN j.state = 'running' THEN
             (extract(epoch FROM jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout,
                                                  statement_timestamp())) * 1000000)::bigint END AS stuck_for
      FROM jobtop.jobs j WHERE j.id = f.id AND f.listed OFFSET 0) j ON true -- one by one, however many
  LEFT JOIN LATERAL jobtop.evidence(f.id) e ON f.listed
 ORDER BY f.n;
