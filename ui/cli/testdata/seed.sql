-- Jobs of every state and verdict, with ages that do not move for half a minute; fresh.sql
-- gives a test another half.
-- Written past the guard, as only the sandbox's superuser can.
SET session_replication_role = replica;

INSERT INTO jobtop.jobs (id, kind, state, version, attempt, max_attempts, run_at, lock_token, worker, claimed_at, heartbeat_at, heartbeat_timeout,
                         progress, progress_at, progress_timeout, effect_key, effect_at, error_category, error_detail, source_version, payload, created_at, state_changed_at)
SELECT id, kind, state, version, attempt, max_attempts, now() - due, token::uuid, worker, now() - claimed, now() - heartbeat, heartbeat_timeout,
       progress, now() - progressed, progress_timeout, id, now() - effect, category, detail, source, payload::jsonb, now() - created, now() - changed
  FROM (VALUES
    ('charge-10442'::text, 'card.charge'::text, 'review'::text, 3::bigint, 1, 5, interval '2:10:30', NULL::text, 'w-7'::text, interval '2:05:30', interval '2:05:00', interval '60 s',
     NULL::bigint, NULL::interval, NULL::interval, interval '2:05:20', 'provider timeout'::text, 'no answer within 30 s; Authorization: Bearer abcdef0123456789abcdef'::text, 'v4.2.1'::text,
     '{"amount": 1200.50, "card": {"number": "4111111111111111"}, "order": 12345678901234567890}'::text, interval '2:10:30', interval '2:04:30'),
    ('invoice-88121', 'invoice.send', 'review', 3, 1, 3, interval '1:00:30', NULL, 'w-3', interval '0:55:30', interval '0:53:30', interval '60 s',
     NULL, NULL, NULL, interval '0:55:20', NULL, NULL, 'v4.2.1', NULL, interval '1:00:30', interval '0:51:30'),
    ('invoice-88140', 'invoice.send', 'review', 7, 3, 3, interval '3:00:30', NULL, 'w-3', interval '0:45:30', interval '0:44:30', interval '60 s',
     NULL, NULL, NULL, NULL, 'template missing', 'no template "dunning"', 'v4.2.2', NULL, interval '3:00:30', interval '0:40:30'),
    ('mail-1', 'mail.send', 'pending', 1, 0, 5, interval '0:12:30', NULL, NULL, NULL, NULL, interval '60 s',
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, interval '0:12:30', interval '0:12:30'),
    ('mail-2', 'mail.send', 'pending', 1, 0, 5, interval '-10:30:30', NULL, NULL, NULL, NULL, interval '60 s',
     NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, interval '0:11:30', interval '0:11:30'),
    ('mail-3', 'mail.send', 'failed', 5, 2, 5, interval '0:5:30', NULL, 'w-2', interval '0:6:30', interval '0:6:30', interval '60 s',
     NULL, NULL, NULL, interval '0:6:30', 'mailbox full', NULL, 'v1.0.0', NULL, interval '0:30:30', interval '0:6:30'),
    ('charge-20001', 'card.charge', 'running', 2, 1, 5, interval '0:3:30', 'a0000000-0000-4000-8000-000000020001', 'w-1', interval '0:2:30', interval '0:2:20', interval '1 day',
     NULL, NULL, NULL, interval '0:2:20', NULL, NULL, 'v4.2.2', NULL, interval '0:3:30', interval '0:2:30'),
    ('charge-20002', 'card.charge', 'running', 4, 2, 5, interval '0:20:30', 'a0000000-0000-4000-8000-000000020002', 'w-7', interval '0:16:30', interval '0:15:30', interval '10 min',
     NULL, NULL, NULL, interval '0:16:20', NULL, NULL, 'v4.2.1', NULL, interval '0:20:30', interval '0:16:30'),
    ('report-1', 'report.build', 'running', 2, 1, 2, interval '2:00:30', 'a0000000-0000-4000-8000-000000000001', 'w-4', interval '1:30:30', interval '0:1:30', interval '1 day',
     40, interval '0:30:30', interval '10 min', NULL, NULL, NULL, 'v2', NULL, interval '2:00:30', interval '1:30:30'),
    ('mail-9', 'mail.send', 'dead', 4, 2, 2, interval '2 days', NULL, 'w-2', interval '26:30:00', interval '26:30:00', interval '60 s',
     NULL, NULL, NULL, interval '26:30:00', 'address refused', '550 no such user', 'v1.0.0', NULL, interval '2 days 1 h', interval '26:30:00'),
    ('legacy-1', 'legacy.sync', 'dead', 4, 1, 1, interval '4 days', NULL, 'old-1', interval '3 days 2 h', interval '3 days 2 h', interval '60 s',
     NULL, NULL, NULL, NULL, 'crashed', NULL, NULL, NULL, interval '4 days', interval '3 days 1 h'),
    (E'=evil\x1b[31m\u202e|`\n1', E'odd\tkind', 'dead', 3, 1, 1, interval '5 days', NULL, E'w\x07', interval '5 days', interval '5 days', interval '60 s',
     NULL, NULL, NULL, NULL, E'@SUM(1)\u2028', E'two\nlines\x1b]0;title\x07', '-v1', '{"token": "hunter2"}', interval '6 days', interval '5 days 1 h'),
    ('charge-9001', 'card.charge', 'done', 3, 1, 5, interval '0:10:30', NULL, 'w-1', interval '0:10:30', interval '0:9:30', interval '60 s',
     NULL, NULL, NULL, interval '0:10:20', NULL, NULL, 'v4.2.2', NULL, interval '0:10:30', interval '0:9:30')
  ) AS j (id, kind, state, version, attempt, max_attempts, due, token, worker, claimed, heartbeat, heartbeat_timeout,
          progress, progressed, progress_timeout, effect, category, detail, source, payload, created, changed);

INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at, finished_at,
                             outcome, to_state, error_category, error_detail)
SELECT id, attempt, token::uuid, worker, source, claimed_from, now() - claimed, intents, now() - effect, now() - heartbeat, now() - finished, outcome, to_state, category, detail
  FROM (VALUES
    ('charge-10442'::text, 1, 'b0000000-0000-4000-8000-000000010442'::text, 'w-7'::text, 'v4.2.1'::text, 'pending'::text, interval '2:05:30', true, interval '2:05:20',
     interval '2:05:00', interval '2:04:30', 'unknown'::text, 'review'::text, 'provider timeout'::text, 'no answer within 30 s; Authorization: Bearer abcdef0123456789abcdef'::text),
    ('invoice-88121', 1, 'b0000000-0000-4000-8000-000000088121', 'w-3', 'v4.2.1', 'pending', interval '0:55:30', true, interval '0:55:20', interval '0:53:30', interval '0:51:30', 'fenced', 'review', NULL, NULL),
    ('invoice-88140', 1, 'b0000000-0000-4000-8000-000000088141', 'w-1', 'v4.2.1', 'pending', interval '2:50:30', true, NULL, interval '2:50:30', interval '2:49:30', 'not_begun', 'failed', 'template missing', NULL),
    ('invoice-88140', 2, 'b0000000-0000-4000-8000-000000088142', 'w-2', 'v4.2.1', 'failed', interval '1:50:30', true, NULL, interval '1:50:30', interval '1:49:30', 'not_begun', 'failed', 'template missing', NULL),
    ('invoice-88140', 3, 'b0000000-0000-4000-8000-000000088143', 'w-3', 'v4.2.2', 'failed', interval '0:45:30', true, NULL, interval '0:44:30', interval '0:44:30', 'not_begun', 'dead', 'template missing', 'no template "dunning"'),
    ('mail-3', 1, 'b0000000-0000-4000-8000-000000000031', 'w-2', 'v1.0.0', 'pending', interval '0:20:30', true, interval '0:20:30', interval '0:20:30', interval '0:20:30', 'refused', 'failed', 'mailbox full', NULL),
    ('mail-3', 2, 'b0000000-0000-4000-8000-000000000032', 'w-2', 'v1.0.0', 'failed', interval '0:6:30', true, interval '0:6:30', interval '0:6:30', interval '0:6:30', 'refused', 'failed', 'mailbox full', NULL),
    ('charge-20001', 1, 'a0000000-0000-4000-8000-000000020001', 'w-1', 'v4.2.2', 'pending', interval '0:2:30', true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('charge-20002', 1, 'b0000000-0000-4000-8000-000000020002', 'w-1', 'v4.2.1', 'pending', interval '0:18:30', true, interval '0:18:30', interval '0:18:30', interval '0:18:20', 'refused', 'failed', 'rate limit', NULL),
    ('charge-20002', 2, 'a0000000-0000-4000-8000-000000020002', 'w-7', 'v4.2.1', 'failed', interval '0:16:30', true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('report-1', 1, 'a0000000-0000-4000-8000-000000000001', 'w-4', 'v2', 'pending', interval '1:30:30', true, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('mail-9', 1, 'b0000000-0000-4000-8000-000000000091', 'w-2', 'v1.0.0', 'pending', interval '30:30:00', true, interval '30:30:00', interval '30:30:00', interval '30:30:00', 'refused', 'failed', 'greylisted', NULL),
    ('mail-9', 2, 'b0000000-0000-4000-8000-000000000092', 'w-2', 'v1.0.0', 'failed', interval '26:30:00', true, interval '26:30:00', interval '26:30:00', interval '26:30:00', 'refused', 'dead', 'address refused', '550 no such user'),
    ('legacy-1', 1, 'b0000000-0000-4000-8000-0000000000e1', 'old-1', NULL, 'pending', interval '3 days 2 h', false, NULL, interval '3 days 2 h', interval '3 days 1 h', 'unknown', 'review', 'crashed', NULL),
    (E'=evil\x1b[31m\u202e|`\n1', 1, 'b0000000-0000-4000-8000-0000000000e2', E'w\x07', '-v1', 'pending', interval '5 days 2 h', true, NULL, interval '5 days 2 h', interval '5 days 1 h', 'not_begun', 'dead', E'@SUM(1)\u2028', E'two\nlines\x1b]0;title\x07'),
    ('charge-9001', 1, 'b0000000-0000-4000-8000-000000009001', 'w-1', 'v4.2.2', 'pending', interval '0:10:30', true, interval '0:10:20', interval '0:9:30', interval '0:9:30', 'done', 'done', NULL, NULL)
  ) AS a (id, attempt, token, worker, source, claimed_from, claimed, intents, effect, heartbeat, finished, outcome, to_state, category, detail);

INSERT INTO jobtop.receipts (job_id, kind, receipt_id, result, attempt, recorded_by, recorded_at)
VALUES ('charge-9001', 'card.charge', 'ch_8121', NULL, 1, 'w-1', now() - interval '0:9:30');

INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, receipt_id, at)
VALUES ('invoice-88121', 1, 'b0000000-0000-4000-8000-000000088121', 'w-3', 'in_9901', now() - interval '0:50:30');

INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, lock_token, operator, db_role, client, reason, outcome, refusal, at)
VALUES
  ('c0000000-0000-4000-8000-000000000001', 'hold', 'invoice-88121', 'invoice.send', 'running', 'review', 'running', 2, 3, 1, 'b0000000-0000-4000-8000-000000088121', 'bob', 'ops', 'jobtop v1', 'silent for 2 min', 'applied', NULL, now() - interval '0:51:30'),
  ('c0000000-0000-4000-8000-000000000002', 'requeue', 'charge-10442', 'card.charge', 'review', 'pending', 'review', 3, NULL, 1, NULL, 'bob', 'ops', 'jobtop v1', 'try again', 'refused', 'uncertain', now() - interval '0:48:30'),
  ('c0000000-0000-4000-8000-000000000003', 'hold', 'invoice-88140', 'invoice.send', 'dead', 'review', 'dead', 6, 7, 3, NULL, 'bob', 'ops', 'jobtop v1', 'customer disputes it | see #5512', 'applied', NULL, now() - interval '0:40:30'),
  ('c0000000-0000-4000-8000-000000000004', 'dead', 'legacy-1', 'legacy.sync', 'review', 'dead', 'review', 3, 4, 1, NULL, 'carol', 'carol', 'psql', 'nobody needs it', 'applied', NULL, now() - interval '3 days 1 h'),
  ('c0000000-0000-4000-8000-000000000005', 'pause', NULL, 'mail.send', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'bob', 'ops', 'jobtop v1', 'relay is down', 'applied', NULL, now() - interval '0:8:30');

INSERT INTO jobtop.paused (kind, by, reason, since, until)
VALUES ('mail.send', 'bob', 'relay is down', now() - interval '0:8:30', NULL);

RESET session_replication_role;
