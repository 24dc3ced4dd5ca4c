-- The attempts of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at, finished_at, outcome,
  to_state, error_category, error_detail)
SELECT h.job_id, h.attempt, h.lock_token, h.worker, h.source_version, h.claimed_from, now() - make_interval(secs => h.claimed_at / 1e9), h.records_intent,
       now() - make_interval(secs => h.effect_at / 1e9), now() - make_interval(secs => h.heartbeat_at / 1e9), now() - make_interval(secs =>
       h.finished_at / 1e9), h.outcome, h.to_state, h.error_category, h.error_detail
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(job_id text, attempt integer, lock_token uuid, worker text, source_version text, claimed_from text, claimed_at double precision, records_intent
         boolean, effect_at double precision, heartbeat_at double precision, finished_at double precision, outcome text, to_state text, error_category
         text, error_detail text)
