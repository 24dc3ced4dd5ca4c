-- The jobs of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.jobs (id, kind, state, version, attempt, max_attempts, run_at, lock_token, worker, claimed_at, heartbeat_at, heartbeat_timeout, progress, progress_at,
  progress_timeout, effect_key, effect_at, error_category, error_detail, source_version, payload, created_at, state_changed_at)
SELECT h.id, h.kind, h.state, h.version, h.attempt, h.max_attempts, now() - make_interval(secs => h.run_at / 1e9), h.lock_token, h.worker, now() -
       make_interval(secs => h.claimed_at / 1e9), now() - make_interval(secs => h.heartbeat_at / 1e9), make_interval(secs => h.heartbeat_timeout /
       1e9), h.progress, now() - make_interval(secs => h.progress_at / 1e9), make_interval(secs => h.progress_timeout / 1e9), h.effect_key, now() -
       make_interval(secs => h.effect_at / 1e9), h.error_category, h.error_detail, h.source_version, h.payload, now() - make_interval(secs =>
       h.created_at / 1e9), now() - make_interval(secs => h.state_changed_at / 1e9)
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(id text, kind text, state text, version bigint, attempt integer, max_attempts integer, run_at double precision, lock_token uuid, worker text,
         claimed_at double precision, heartbeat_at double precision, heartbeat_timeout double precision, progress bigint, progress_at double
         precision, progress_timeout double precision, effect_key text, effect_at double precision, error_category text, error_detail text,
         source_version text, payload jsonb, created_at double precision, state_changed_at double precision)
