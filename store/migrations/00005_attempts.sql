-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- The CHECKs are short, or domains: a CHECK is read from its text anew for each statement, three times an attempt.
CREATE DOMAIN jobtop.waiting_state AS text CONSTRAINT waiting_state CHECK (VALUE IN ('pending', 'failed'));
CREATE DOMAIN jobtop.attempt_outcome AS text CONSTRAINT known_outcome CHECK (VALUE IN ('done', 'not_begun', 'refused', 'unknown', 'fenced'));

-- One row a claim. No foreign key to jobs: only the claim and the guard insert here, from
-- the job row that they hold. heartbeat_at is the last sign of life, copied when the attempt ends.
CREATE TABLE jobtop.attempts (
  job_id         text COLLATE "C" NOT NULL,
  attempt        integer NOT NULL CHECK (attempt >= 1),
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

  PRIMARY KEY (job_id, attempt),
  CONSTRAINT finished_is_whole CHECK (num_nulls(finished_at, outcome, to_state) IN (0, 3)),
  CONSTRAINT not_begun_is_bare CHECK (effect_at IS NULL OR outcome <> 'not_begun')
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
