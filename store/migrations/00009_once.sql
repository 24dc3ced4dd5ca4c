-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- Run-once tokens: whoever inserts the key runs, the others' skips are counted.
CREATE TABLE jobtop.once (
  key        text PRIMARY KEY CHECK (length(key) BETWEEN 1 AND 512),
  holder     text,
  expires_at timestamptz NOT NULL,
  skips      bigint NOT NULL DEFAULT 0
);

RESET ROLE;
