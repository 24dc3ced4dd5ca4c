-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- How long a failed job waits before its next attempt: min(cap, base * 2^attempt) seconds, of which
-- the last fifth is left to chance, so that jobs that failed together do not come back together.
CREATE FUNCTION jobtop.backoff(attempt integer, base double precision, cap double precision)
RETURNS interval LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN make_interval(secs => least(cap, base * 2 ^ least(greatest(attempt, 0), 40)) * (1 - random() / 5));
-- +goose StatementEnd

RESET ROLE;
