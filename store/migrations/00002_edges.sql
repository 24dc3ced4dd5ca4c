-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- Every way a job may change its state, and who may take it. The guard on jobs
-- refuses all others; jobtop compares these rows with its own on connecting.
CREATE TABLE jobtop.edges (
  from_state text NOT NULL CHECK (from_state IN ('pending', 'running', 'failed', 'review', 'done', 'dead')),
  to_state   text NOT NULL CHECK (to_state   IN ('pending', 'running', 'failed', 'review', 'done', 'dead')),
  actor      text NOT NULL CHECK (actor IN ('worker', 'operator')),
  note       text NOT NULL,
  PRIMARY KEY (from_state, to_state, actor),
  CONSTRAINT done_is_final CHECK (from_state <> 'done'),
  CONSTRAINT edges_go_somewhere CHECK (from_state <> to_state)
);

INSERT INTO jobtop.edges (from_state, to_state, actor, note) VALUES
  ('pending', 'running', 'worker',   'claim'),
  ('failed',  'running', 'worker',   'claim, once run_at has come'),
  ('running', 'done',    'worker',   'complete, with the receipt'),
  ('running', 'failed',  'worker',   'certainly did not happen, attempts are left'),
  ('running', 'dead',    'worker',   'certainly did not happen, no attempts are left or the refusal is final'),
  ('running', 'review',  'worker',   'the effect had begun and its outcome is unknown'),
  ('running', 'pending', 'operator', 'requeue, only while stuck'),
  ('running', 'review',  'operator', 'hold while stuck, or stop while alive'),
  ('running', 'done',    'operator', 'done by hand, only while stuck'),
  ('running', 'dead',    'operator', 'give up, only while stuck'),
  ('pending', 'review',  'operator', 'hold'),
  ('pending', 'done',    'operator', 'done by hand'),
  ('pending', 'dead',    'operator', 'cancel'),
  ('failed',  'review',  'operator', 'hold'),
  ('failed',  'done',    'operator', 'done by hand'),
  ('failed',  'dead',    'operator', 'cancel'),
  ('failed',  'pending', 'operator', 'requeue'),
  ('review',  'pending', 'operator', 'requeue'),
  ('review',  'done',    'operator', 'it did happen after all'),
  ('review',  'dead',    'operator', 'give up'),
  ('dead',    'pending', 'operator', 'requeue'),
  ('dead',    'done',    'operator', 'it did happen after all');

RESET ROLE;
