-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- What each role may do; everything that is not named here, none of them may.
-- The viewer reads all but what a job carries and what a provider answered.
GRANT SELECT (id, kind, state, version, attempt, max_attempts, run_at, lock_token, worker, claimed_at, heartbeat_at, heartbeat_timeout,
              progress, progress_at, progress_timeout, effect_key, effect_at, error_category, error_detail, source_version, created_at, state_changed_at)
  ON jobtop.jobs TO jobtop_viewer;
GRANT SELECT (job_id, kind, receipt_id, attempt, recorded_by, action_id, recorded_at) ON jobtop.receipts TO jobtop_viewer;
GRANT SELECT (id, job_id, attempt, lock_token, worker, receipt_id, effect, error_category, error_detail, at) ON jobtop.late_reports TO jobtop_viewer;
GRANT SELECT ON jobtop.attempts, jobtop.actions, jobtop.paused, jobtop.edges, jobtop.once TO jobtop_viewer;
GRANT EXECUTE ON FUNCTION jobtop.evidence, jobtop.last_change, jobtop.stuck_for TO jobtop_viewer;

-- The payload role adds just that, for somebody who is a viewer too.
GRANT SELECT (id, payload) ON jobtop.jobs TO jobtop_payload;
GRANT SELECT (job_id, result) ON jobtop.receipts TO jobtop_payload;
GRANT SELECT (id, job_id, result) ON jobtop.late_reports TO jobtop_payload;

RESET ROLE;
