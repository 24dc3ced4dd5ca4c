-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- What the record holds about a job's effect, over all its attempts: the verdict, and the fact it
-- rests on. verdict is happened, may_have_happened, not_known, did_not_happen or never_started,
-- the first that applies. An attempt's intent is answered only by a definite refusal, its own or
-- one reported late under its token. A late receipt that another job of the kind holds proves nothing.
-- Always one row. As a set it is planned with the statement that asks, and not anew at every call.
-- The intent of an attempt that runs stands in the job.
-- There may be thousands of attempts: each is weighed once, and its late reports are looked up by their
-- index (OFFSET 0 keeps the planner from reading them all into a hash).
CREATE FUNCTION jobtop.evidence(job_id text, OUT verdict text, OUT attempt integer, OUT effect_at timestamptz,
                                OUT receipt_id text, OUT recorded_by text, OUT recorded_at timestamptz, OUT late boolean)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  WITH proof AS (
    (SELECT r.receipt_id, r.recorded_by, r.recorded_at, r.attempt, false AS late
       FROM jobtop.receipts r WHERE r.job_id = evidence.job_id)
    UNION ALL
    (SELECT l.receipt_id, l.worker, l.at, l.attempt, true
       FROM jobtop.late_reports l
      WHERE l.job_id = evidence.job_id AND l.receipt_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM jobtop.receipts o JOIN jobtop.jobs j ON j.id = evidence.job_id
                         WHERE o.receipt_id = l.receipt_id AND o.kind = j.kind AND o.job_id <> l.job_id)
      ORDER BY l.id LIMIT 1)
    ORDER BY late LIMIT 1
  ), tried AS (
    SELECT a.attempt, a.records_intent, a.outcome,
           CASE WHEN a.finished_at IS NULL THEN (SELECT j.effect_at FROM jobtop.jobs j WHERE j.id = a.job_id) ELSE a.effect_at END AS effect_at,
           a.outcome = 'refused'
             OR EXISTS (SELECT FROM jobtop.late_reports l
                         WHERE l.job_id = a.job_id AND l.lock_token = a.lock_token AND l.effect = 'refused' OFFSET 0) AS refused
      FROM jobtop.attempts a WHERE a.job_id = evidence.job_id OFFSET 0 -- so that each is weighed once
  ), sum AS (
    SELECT max(t.attempt) FILTER (WHERE t.effect_at IS NOT NULL AND t.refused IS NOT TRUE) AS open_intent,
           max(t.attempt) FILTER (WHERE t.effect_at IS NULL AND NOT t.records_intent
                                    AND t.refused IS NOT TRUE AND t.outcome IS DISTINCT FROM 'not_begun') AS unknown,
           max(t.attempt) FILTER (WHERE t.refused) AS refused,
           max(t.attempt) AS last
      FROM tried t
  ), decided AS (
    SELECT CASE WHEN p.receipt_id IS NOT NULL THEN 'happened'
                WHEN s.open_intent IS NOT NULL THEN 'may_have_happened'
                WHEN s.unknown IS NOT NULL THEN 'not_known'
                WHEN s.refused IS NOT NULL THEN 'did_not_happen'
                ELSE 'never_started' END AS verdict,
           CASE WHEN p.receipt_id IS NOT NULL THEN p.attempt
                ELSE coalesce(s.open_intent, s.unknown, s.refused, s.last) END AS attempt,
           p.receipt_id, p.recorded_by, p.recorded_at, p.late
      FROM sum s LEFT JOIN proof p ON true
  )
  SELECT d.verdict, d.attempt, CASE WHEN t.finished_at IS NULL THEN (SELECT j.effect_at FROM jobtop.jobs j WHERE j.id = t.job_id) ELSE t.effect_at END,
         d.receipt_id, d.recorded_by, d.recorded_at, d.late
    FROM decided d LEFT JOIN jobtop.attempts t ON t.job_id = evidence.job_id AND t.attempt = d.attempt;
END;
-- +goose StatementEnd

RESET ROLE;
