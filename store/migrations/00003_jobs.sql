-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- One row a job. Heartbeats write heartbeat_at, progress and progress_at and nothing
-- else; none of them is indexed and the fillfactor leaves room, so they stay HOT.
CREATE TABLE jobtop.jobs (
  id                text COLLATE "C" PRIMARY KEY,
  kind              text NOT NULL,
  state             text NOT NULL DEFAULT 'pending',
  version           bigint NOT NULL DEFAULT 1,
  attempt           integer NOT NULL DEFAULT 0,
  max_attempts      integer NOT NULL DEFAULT 5,
  run_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  lock_token        uuid,
  worker            text,
  claimed_at        timestamptz,
  heartbeat_at      timestamptz,
  heartbeat_timeout interval NOT NULL DEFAULT '60 seconds',
  progress          bigint,
  progress_at       timestamptz,
  progress_timeout  interval,
  effect_key        text COLLATE "C" NOT NULL,
  effect_at         timestamptz,
  error_category    text,
  error_detail      text,
  source_version    text,
  payload           jsonb,
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  state_changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT id_length             CHECK (length(id) BETWEEN 1 AND 512),
  CONSTRAINT kind_length           CHECK (length(kind) BETWEEN 1 AND 128),
  CONSTRAINT effect_key_length     CHECK (length(effect_key) BETWEEN 1 AND 512),
  CONSTRAINT error_category_length CHECK (length(error_category) <= 128),
  CONSTRAINT known_state           CHECK (state IN ('pending', 'running', 'failed', 'review', 'done', 'dead')),
  CONSTRAINT running_is_locked     CHECK ((state = 'running') = (lock_token IS NOT NULL)),
  CONSTRAINT running_is_alive      CHECK (state <> 'running' OR (claimed_at IS NOT NULL AND heartbeat_at IS NOT NULL)),
  CONSTRAINT attempt_in_bounds     CHECK (attempt BETWEEN 0 AND max_attempts AND max_attempts >= 1),
  CONSTRAINT waiting_can_be_tried  CHECK (state NOT IN ('pending', 'failed') OR attempt < max_attempts),
  CONSTRAINT timeouts_are_positive CHECK (heartbeat_timeout > '0'::interval AND (progress_timeout IS NULL OR progress_timeout > '0'::interval)),
  CONSTRAINT timeouts_can_be_added CHECK (heartbeat_timeout <= '100 years'::interval AND (progress_timeout IS NULL OR progress_timeout <= '100 years'::interval))
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
