-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- What a row may hold is said by domains and by the trigger guard_attempt: a CHECK is read from its text anew for
-- each statement, and every job writes here twice.
CREATE DOMAIN jobtop.attempt_number AS integer CONSTRAINT attempt_number_counts CHECK (VALUE >= 1);
CREATE DOMAIN jobtop.waiting_state AS text CONSTRAINT waiting_state CHECK (VALUE IN ('pending', 'failed'));
CREATE DOMAIN jobtop.attempt_outcome AS text CONSTRAINT known_outcome CHECK (VALUE IN ('done', 'not_begun', 'refused', 'unknown', 'fenced'));

-- One row a claim. No foreign key to jobs: only the claim and the guard insert here, from
-- the job row that they hold. While an attempt runs, its intent and its last sign of life stand in the
-- job; effect_at and heartbeat_at are copied from there when it ends.
CREATE TABLE jobtop.attempts (
  job_id         text COLLATE "C" NOT NULL,
  attempt        jobtop.attempt_number NOT NULL,
  lock_token     uuid NOT NULL,
  worker         text NOT NULL,
  source_version text,
  claimed_from   jobtop.waiting_state NOT NULL,
  claimed_at     timestamptz NOT NULL,
  records_intent boolean NOT NULL,
  effect_at      timestamptz,
  heartbeat_at   timestamptz,
  finished_at    timestamptz,
  outcome        jobtop.attempt_outcome,
  to_state       text,
  error_category text,
  error_detail   text,

  PRIMARY KEY (job_id, attempt)
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 1000
);

-- What a token claimed: a repeated claim finds its own jobs here.
CREATE INDEX attempts_lock_token ON jobtop.attempts (lock_token);
-- Rates: what ended lately, and how.
CREATE INDEX attempts_finished_at ON jobtop.attempts (finished_at) WHERE finished_at IS NOT NULL;

RESET ROLE;
