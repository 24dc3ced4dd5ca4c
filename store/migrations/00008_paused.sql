-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- Kinds that no worker may claim now. "until" empty: until somebody resumes.
CREATE TABLE jobtop.paused (
  kind   text PRIMARY KEY,
  by     text NOT NULL,
  reason text NOT NULL CHECK (btrim(reason) <> ''),
  since  timestamptz NOT NULL DEFAULT clock_timestamp(),
  until  timestamptz
);

RESET ROLE;
