-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- What a column may hold by itself is a domain: a CHECK of the table is read from its text anew for each
-- statement that writes, and heartbeats are many.
CREATE DOMAIN jobtop.identifier     AS text COLLATE "C" CONSTRAINT identifier_length CHECK (length(VALUE) BETWEEN 1 AND 512);
CREATE DOMAIN jobtop.job_kind       AS text CONSTRAINT kind_length CHECK (length(VALUE) BETWEEN 1 AND 128);
CREATE DOMAIN jobtop.error_category AS text CONSTRAINT error_category_length CHECK (length(VALUE) <= 128);
CREATE DOMAIN jobtop.job_state      AS text CONSTRAINT known_state CHECK (VALUE IN ('pending', 'running', 'failed', 'review', 'done', 'dead'));
-- Positive, and such that it can be added to any moment.
CREATE DOMAIN jobtop.timeout        AS interval CONSTRAINT timeout_in_bounds CHECK (VALUE > '0' AND VALUE <= '100 years');

-- One row a job. Heartbeats write heartbeat_at, progress and progress_at and nothing
-- else; none of them is indexed and the fillfactor leaves room, so they stay HOT.
CREATE TABLE jobtop.jobs (
  id                jobtop.identifier PRIMARY KEY,
  kind              jobtop.job_kind NOT NULL,
  state             jobtop.job_state NOT NULL DEFAULT 'pending',
  version           bigint NOT NULL DEFAULT 1,
  attempt           integer NOT NULL DEFAULT 0,
  max_attempts      integer NOT NULL DEFAULT 5,
  run_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  lock_token        uuid,
  worker            text,
  claimed_at        timestamptz,
  heartbeat_at      timestamptz,
  heartbeat_timeout jobtop.timeout NOT NULL DEFAULT '60 seconds',
  progress          bigint,
  progress_at       timestamptz,
  progress_timeout  jobtop.timeout,
  effect_key        jobtop.identifier NOT NULL,
  effect_at         timestamptz,
  error_category    jobtop.error_category,
  error_detail      text,
  source_version    text,
  payload           jsonb,
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  state_changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT running_is_locked    CHECK ((state = 'running') = (lock_token IS NOT NULL)),
  CONSTRAINT running_is_alive     CHECK (lock_token IS NULL OR (claimed_at IS NOT NULL AND heartbeat_at IS NOT NULL)),
  CONSTRAINT attempt_in_bounds    CHECK (attempt BETWEEN 0 AND max_attempts AND max_attempts >= 1),
  CONSTRAINT waiting_can_be_tried CHECK (attempt < max_attempts OR state NOT IN ('pending', 'failed'))
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);

-- What a claim reads: the due jobs of a kind, oldest first.
CREATE INDEX jobs_queue ON jobtop.jobs (kind, run_at, id) WHERE state IN ('pending', 'failed');
-- What a poll reads: it grows with the open jobs and never with the done ones.
CREATE INDEX jobs_open ON jobtop.jobs (state, state_changed_at, id) INCLUDE (kind) WHERE state <> 'done';
-- An effect key that is the id is found by the primary key.
CREATE INDEX jobs_effect_key ON jobtop.jobs (effect_key) WHERE effect_key <> id;

RESET ROLE;
