-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- How long a running job has been past its own limit at a moment: of its heartbeat, or of its
-- progress where it has a progress limit (counted from the claim until it reports any).
-- NULL while it is within both. This is the one definition of "stuck".
CREATE FUNCTION jobtop.stuck_for(heartbeat_at timestamptz, heartbeat_timeout interval,
                                 progress_at timestamptz, claimed_at timestamptz, progress_timeout interval, at timestamptz)
RETURNS interval LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN at > heartbeat_at + heartbeat_timeout OR at > coalesce(progress_at, claimed_at) + progress_timeout
  THEN greatest(at - (heartbeat_at + heartbeat_timeout), at - (coalesce(progress_at, claimed_at) + progress_timeout))
END;
-- +goose StatementEnd

RESET ROLE;
