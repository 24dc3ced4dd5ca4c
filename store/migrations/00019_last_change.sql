-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Who last changed a job's state, and how: the operator of the latest applied action, or the
-- worker of the latest attempt, whichever is newer; nobody (no row), while it is as it was enqueued.
CREATE FUNCTION jobtop.last_change(job_id text, OUT changed_by text, OUT changed_how text, OUT changed_at timestamptz, OUT lock_token uuid)
RETURNS SETOF record LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT c.by, c.how, c.at, c.lock_token
    FROM ((SELECT a.operator AS by, a.verb AS how, a.at, a.lock_token
             FROM jobtop.actions a
            WHERE a.job_id = last_change.job_id AND a.outcome = 'applied'
            ORDER BY a.at DESC LIMIT 1)
          UNION ALL
          (SELECT t.worker, CASE WHEN t.outcome IS NULL THEN 'claim' ELSE t.outcome END, coalesce(t.finished_at, t.claimed_at), t.lock_token
             FROM jobtop.attempts t
            WHERE t.job_id = last_change.job_id AND t.outcome IS DISTINCT FROM 'fenced'
            ORDER BY t.attempt DESC LIMIT 1)) c
   ORDER BY c.at DESC LIMIT 1;
END;
-- +goose StatementEnd

RESET ROLE;
