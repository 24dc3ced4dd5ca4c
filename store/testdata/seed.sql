-- A table as a busy system has after a month: 200,000 done jobs beside 7,000 open ones of several kinds,
-- with what was recorded about them. Run by a superuser, with the guard off.
SET session_replication_role = replica;

-- Building an index once is cheaper than adding to it row by row.
CREATE TEMP TABLE later AS
SELECT c.oid::regclass::text AS name, pg_get_indexdef(c.oid) AS definition
  FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
 WHERE c.relnamespace = 'jobtop'::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = c.oid);
DO $$ DECLARE l later; BEGIN FOR l IN SELECT * FROM later LOOP EXECUTE 'DROP INDEX ' || l.name; END LOOP; END $$;

CREATE TEMP TABLE wanted AS
SELECT i, 'job-' || substr(md5(i::text), 1, 4) || '-' || i AS id,
       (ARRAY['invoice.send', 'invoice.send', 'invoice.send', 'card.charge', 'card.charge', 'mail.send', 'report.build', 'Ärger.senden'])[1 + i % 8] AS kind,
       CASE WHEN i <= 200000 THEN 'done' WHEN i <= 204000 THEN 'pending' WHEN i <= 205200 THEN 'running'
            WHEN i <= 206000 THEN 'failed' WHEN i <= 206400 THEN 'review' ELSE 'dead' END AS state,
       -- Four and four share a moment.
       clock_timestamp() - interval '30 days' + (i / 4) * interval '51 seconds' AS at
  FROM generate_series(1, 207000) i;
UPDATE wanted SET at = clock_timestamp() - (207001 - i) / 4 * interval '3 seconds' WHERE state <> 'done';

INSERT INTO jobtop.jobs (id, kind, state, version, attempt, max_attempts, run_at, lock_token, worker, claimed_at, heartbeat_at, heartbeat_timeout,
                         progress, progress_at, progress_timeout, effect_key, effect_at, error_category, error_detail, source_version, payload,
                         created_at, state_changed_at)
SELECT w.id, w.kind, w.state, CASE w.state WHEN 'pending' THEN 1 WHEN 'running' THEN 2 ELSE 3 END,
       (w.state <> 'pending')::integer, 5,
       CASE WHEN w.state = 'pending' AND w.i % 4 = 0 THEN clock_timestamp() + interval '1 hour' ELSE w.at END,
       CASE WHEN w.state = 'running' THEN md5(w.i::text)::uuid END,
       CASE WHEN w.state <> 'pending' THEN 'w-' || w.i % 40 END,
       CASE WHEN w.state <> 'pending' THEN w.at - interval '10 seconds' * (w.state <> 'running')::integer END,
       CASE WHEN w.state = 'running' AND w.i % 4 = 0 THEN w.at WHEN w.state <> 'pending' THEN clock_timestamp() END,
       CASE WHEN w.i % 4 = 0 THEN interval '60 seconds' ELSE interval '1 day' END,
       CASE WHEN w.state = 'running' THEN w.i END, CASE WHEN w.state = 'running' THEN w.at END, CASE WHEN w.i % 3 = 0 THEN interval '1 day' END,
       CASE WHEN w.i % 5 = 0 THEN 'effect-' || w.i ELSE w.id END,
       CASE WHEN w.state IN ('review', 'done') THEN w.at - interval '5 seconds' END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN (ARRAY['timeout', 'refused', 'provider timeout'])[1 + w.i % 3] END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN repeat('no answer ', 20) END,
       'v' || w.i % 7, jsonb_build_object('n', w.i), w.at - interval '1 minute', w.at
  FROM wanted w ORDER BY w.i;

INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at,
                             finished_at, outcome, to_state, error_category)
SELECT w.id, 1, md5(w.i::text)::uuid, 'w-' || w.i % 40, 'v' || w.i % 7, 'pending', w.at - interval '10 seconds', w.i % 9 <> 0,
       CASE WHEN w.state IN ('review', 'done') THEN w.at - interval '5 seconds' END, w.at,
       CASE WHEN w.state <> 'running' THEN w.at END,
       CASE w.state WHEN 'done' THEN 'done' WHEN 'review' THEN 'unknown' WHEN 'running' THEN NULL ELSE 'not_begun' END,
       CASE WHEN w.state <> 'running' THEN w.state END,
       CASE WHEN w.state IN ('failed', 'review', 'dead') THEN 'timeout' END
  FROM wanted w WHERE w.state <> 'pending' AND (w.state <> 'done' OR w.i % 2 = 0) ORDER BY w.i;

INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
SELECT w.id, w.kind, 'r_' || w.i, 1, 'w-' || w.i % 40, w.at FROM wanted w WHERE w.state = 'done' ORDER BY w.i;

INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, operator, reason, outcome, refusal, at)
SELECT md5('action' || w.i)::uuid, 'hold', w.id, w.kind, 'running', 'review', 'running', 2, 3, 1, (ARRAY['alice', 'bob'])[1 + w.i / 10 % 2], 'looked stuck',
       CASE WHEN w.i % 20 = 0 THEN 'refused' ELSE 'applied' END, CASE WHEN w.i % 20 = 0 THEN 'alive' END, w.at
  FROM wanted w WHERE w.i % 10 = 0 OR (w.i % 2 = 0 AND w.state <> 'done') ORDER BY w.i;

INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, receipt_id, effect, at)
SELECT w.id, 1, md5(w.i::text)::uuid, 'w-' || w.i % 40, CASE WHEN w.i % 2 = 0 THEN 'late_' || w.i END, CASE WHEN w.i % 2 = 1 THEN 'refused' END, w.at
  FROM wanted w WHERE w.state = 'review' OR w.i % 100 = 0 ORDER BY w.i;

-- One job that was tried and touched all the time.
UPDATE jobtop.jobs SET attempt = 5000, max_attempts = 5001, version = 10001 WHERE id = (SELECT w.id FROM wanted w WHERE w.i = 206400);
INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at, finished_at, outcome, to_state)
SELECT w.id, n, md5(n || 'n')::uuid, 'w-1', 'failed', w.at - (5001 - n) * interval '1 minute', true, w.at - (5001 - n) * interval '1 minute',
       w.at, w.at - (5000 - n) * interval '1 minute', 'refused', 'failed'
  FROM wanted w, generate_series(2, 5000) n WHERE w.i = 206400;
INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, version, attempt, operator, reason, outcome, at)
SELECT md5('again' || n)::uuid, 'requeue', w.id, w.kind, 'failed', 'pending', n, n, 'carol', 'again', 'applied', w.at - (5001 - n) * interval '1 minute'
  FROM wanted w, generate_series(2, 1500) n WHERE w.i = 206400;

DO $$ DECLARE l later; BEGIN FOR l IN SELECT * FROM later LOOP EXECUTE l.definition; END LOOP; END $$;
DROP TABLE wanted, later;
RESET session_replication_role;
