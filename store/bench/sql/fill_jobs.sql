-- Jobs. Those that run and are not stuck stay alive for a day without a heartbeat.
INSERT INTO jobtop.jobs (id, kind, state, version, attempt, max_attempts, run_at, lock_token, worker, claimed_at, heartbeat_at, heartbeat_timeout,
                         effect_key, effect_at, error_category, error_detail, source_version, payload, created_at, state_changed_at)
SELECT w.id, w.kind, w.state, CASE w.state WHEN 'pending' THEN 1 WHEN 'running' THEN 2 ELSE 3 END,
       (w.state <> 'pending')::integer, 5,
       CASE WHEN w.state IN ('pending', 'failed') AND w.i % 4 = 0 THEN w.at + interval '1 day' ELSE w.at END,
       CASE WHEN w.state = 'running' THEN md5(w.i::text)::uuid END,
       CASE WHEN w.state <> 'pending' THEN 'worker-' || w.i % 40 END,
       CASE WHEN w.state <> 'pending' THEN w.at - interval '10 seconds' * (w.state <> 'running')::integer END,
       CASE WHEN w.stuck THEN w.at - interval '10 minutes' WHEN w.state <> 'pending' THEN @base::text::timestamptz END,
       CASE WHEN w.state = 'running' AND NOT w.stuck THEN interval '1 day' ELSE interval '60 seconds' END,
       CASE WHEN w.i % 5 = 0 THEN 'effect-' || w.i ELSE w.id END,
       CASE WHEN w.state IN ('review', 'done') THEN w.at - interval '5 seconds' END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN (ARRAY['timeout', 'refused', 'provider timeout'])[1 + w.i % 3] END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN repeat('no answer from the provider ', 8) END,
       'v' || w.i % 7, jsonb_build_object('customer', w.i % 100000, 'amount', w.i % 9973), w.at - interval '1 minute', w.at
  FROM wanted w;
