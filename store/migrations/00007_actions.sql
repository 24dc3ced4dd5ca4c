-- +goose Up
SET LOCAL ROLE jobtop_owner;

CREATE DOMAIN jobtop.action_verb    AS text CONSTRAINT known_verb CHECK (VALUE IN ('requeue', 'done', 'dead', 'hold', 'pause', 'resume', 'direct', 'retention'));
CREATE DOMAIN jobtop.action_outcome AS text CONSTRAINT known_outcome CHECK (VALUE IN ('applied', 'refused', 'void'));
CREATE DOMAIN jobtop.refusal        AS text CONSTRAINT known_refusal CHECK (VALUE IN (
  'not_found', 'changed', 'alive', 'no_edge', 'busy', 'receipt_required', 'receipt_conflict', 'uncertain', 'reason_required', 'not_paused'));
CREATE DOMAIN jobtop.reason         AS text CONSTRAINT reason_length CHECK (length(VALUE) <= 1000);
CREATE DOMAIN jobtop.operator_name  AS text CONSTRAINT operator_length CHECK (length(VALUE) BETWEEN 1 AND 200);

-- What operators did, what they were refused, and what was changed past them. Rows are never
-- updated. The key is the client's: the row is the proof that an act landed, or never will.
CREATE TABLE jobtop.actions (
  action_id     uuid PRIMARY KEY,
  verb          jobtop.action_verb NOT NULL,
  job_id        text COLLATE "C",
  kind          text,
  from_state    text,
  to_state      text,
  seen_state    text,
  seen_version  bigint,
  version       bigint,
  attempt       integer,
  lock_token    uuid,
  operator      jobtop.operator_name NOT NULL,
  db_role       text NOT NULL DEFAULT session_user,
  client        text,
  reason        jobtop.reason,
  confirmations text[] NOT NULL DEFAULT '{}',
  lookup        jsonb,
  receipt_id    text COLLATE "C",
  delay         interval,
  outcome       jobtop.action_outcome NOT NULL,
  refusal       jobtop.refusal,
  at            timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT refused_says_why   CHECK ((outcome = 'refused') = (refusal IS NOT NULL)),
  CONSTRAINT applied_has_reason CHECK (outcome <> 'applied' OR coalesce(btrim(reason), '') <> ''),
  CONSTRAINT applied_has_edge   CHECK (outcome <> 'applied' OR job_id IS NULL OR (from_state IS NOT NULL AND to_state IS NOT NULL AND version IS NOT NULL))
);

CREATE INDEX actions_job ON jobtop.actions (job_id, at, action_id) WHERE job_id IS NOT NULL;
CREATE INDEX actions_at ON jobtop.actions (at, action_id);

RESET ROLE;
