-- Its attempts.
INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at, finished_at, outcome,
                             to_state, error_category, error_detail)
SELECT @tried::text, n, md5('tried' || n)::uuid, 'worker-1', 'failed', now() - (10001 - n) * interval '1 minute', true, now() - (10001 - n) * interval '1 minute',
       now() - (10000 - n) * interval '1 minute', now() - (10000 - n) * interval '1 minute', 'refused', CASE WHEN n = 10000 THEN 'dead' ELSE 'failed' END,
       'refused', repeat('card declined ', 10)
  FROM generate_series(1, 10000) n;
