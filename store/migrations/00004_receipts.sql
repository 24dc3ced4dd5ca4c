-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- What a provider calls a receipt. A domain, whose check is not read anew from its text for each statement.
CREATE DOMAIN jobtop.receipt_id AS text COLLATE "C"
  CONSTRAINT receipt_id_is_plain CHECK (length(VALUE) BETWEEN 1 AND 200 AND VALUE !~ '[[:cntrl:]]' AND VALUE = btrim(VALUE));

-- The proof that an effect happened, written in the transaction that makes its job done.
-- The order of the unique key lets a receipt be found by its ID alone.
CREATE TABLE jobtop.receipts (
  job_id      text COLLATE "C" PRIMARY KEY REFERENCES jobtop.jobs (id),
  kind        text NOT NULL,
  receipt_id  jobtop.receipt_id NOT NULL,
  result      jsonb,
  attempt     integer NOT NULL,
  recorded_by text NOT NULL,
  action_id   uuid,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT receipt_once UNIQUE (receipt_id, kind)
);

-- Done jobs by time. With the id, so that pages stay exact and cheap where many share a moment.
CREATE INDEX receipts_recorded_at ON jobtop.receipts (recorded_at, job_id);

RESET ROLE;
