-- The newest attempts of one job, their errors cut. Ages by date_part, which is exact enough for two centuries
-- and cheaper than extract, a numeric: there may be hundreds of rows.
SELECT a.attempt, a.lock_token::text, a.worker, a.source_version, a.claimed_from, a.claimed_at,
       (date_part('epoch', statement_timestamp() - a.claimed_at) * 1000000)::bigint, a.records_intent,
       a.effect_at, (date_part('epoch', statement_timestamp() - a.effect_at) * 1000000)::bigint,
       a.heartbeat_at, (date_part('epoch', statement_timestamp() - a.heartbeat_at) * 1000000)::bigint,
       a.finished_at, (date_part('epoch', statement_timestamp() - a.finished_at) * 1000000)::bigint,
       a.outcome, a.to_state, a.error_category, left(a.error_detail, @error_limit::integer)
  FROM jobtop.attempts a
 WHERE a.job_id = @id::text
 ORDER BY a.attempt DESC LIMIT @limit::bigint;
