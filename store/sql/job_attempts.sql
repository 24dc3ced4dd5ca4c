-- The newest attempts of one job, or those up to one of them, their errors cut. The intent of one that runs stands
-- in the job. Ages by date_part, which is exact enough for two centuries and cheaper than extract, a numeric: there
-- may be hundreds of rows.
SELECT a.attempt, a.lock_token::text, a.worker, a.source_version, a.claimed_from, a.claimed_at,
       (date_part('epoch', statement_timestamp() - a.claimed_at) * 1000000)::bigint, a.records_intent OR i.effect_at IS NOT NULL,
       i.effect_at, (date_part('epoch', statement_timestamp() - i.effect_at) * 1000000)::bigint,
       a.heartbeat_at, (date_part('epoch', statement_timestamp() - a.heartbeat_at) * 1000000)::bigint,
       a.finished_at, (date_part('epoch', statement_timestamp() - a.finished_at) * 1000000)::bigint,
       a.outcome, a.to_state, a.error_category, left(a.error_detail, @error_limit::integer)
  FROM jobtop.attempts a,
       LATERAL (SELECT CASE WHEN a.finished_at IS NULL THEN (SELECT j.effect_at FROM jobtop.jobs j WHERE j.id = a.job_id) ELSE a.effect_at END AS effect_at) i
 WHERE a.job_id = @id::text AND a.attempt <= @upto::integer
 ORDER BY a.attempt DESC LIMIT @limit::bigint;
