-- The attempt of every job that was claimed.
INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at,
                             finished_at, outcome, to_state, error_category)
SELECT w.id, 1, md5(w.i::text)::uuid, 'worker-' || w.i % 40, 'v' || w.i % 7, 'pending', w.at - interval '10 seconds' * (w.state <> 'running')::integer, true,
       CASE WHEN w.state IN ('review', 'done') THEN w.at - interval '5 seconds' END,
       CASE WHEN w.state <> 'running' THEN w.at END, CASE WHEN w.state <> 'running' THEN w.at END,
       CASE w.state WHEN 'done' THEN 'done' WHEN 'review' THEN 'unknown' WHEN 'running' THEN NULL ELSE 'not_begun' END,
       CASE WHEN w.state <> 'running' THEN w.state END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN 'timeout' END
  FROM wanted w WHERE w.state <> 'pending';
