-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- What act and settle answer: what became of the action, and what its job is now, since when and by
-- whom. blocker is the job that holds the receipt after receipt_conflict. to_version is the version
-- that an applied action made; where it is not the job's version, the job has moved on since.
CREATE TYPE jobtop.act_answer AS (
  action_id   uuid,
  outcome     text,
  refusal     text,
  to_state    text,
  to_version  bigint,
  verdict     text,
  blocker     text,
  state       text,
  version     bigint,
  attempt     integer,
  receipt_id  text,
  changed_by  text,
  changed_how text,
  changed_ago interval,
  lock_token  uuid
);
-- +goose StatementEnd

RESET ROLE;
