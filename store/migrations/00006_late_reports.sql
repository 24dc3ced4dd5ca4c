-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- What a worker still had to say when its token no longer held. Kept as evidence, also for
-- a job or an attempt that this database does not know (it may have failed over meanwhile).
CREATE TABLE jobtop.late_reports (
  id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_id         text COLLATE "C" NOT NULL,
  attempt        integer,
  lock_token     uuid NOT NULL,
  worker         text,
  receipt_id     text COLLATE "C",
  result         jsonb,
  effect         text CHECK (effect IN ('not_begun', 'refused', 'unknown')),
  error_category text,
  error_detail   text,
  at             timestamptz NOT NULL DEFAULT clock_timestamp(),

  CONSTRAINT receipt_or_failure CHECK ((receipt_id IS NULL) <> (effect IS NULL))
);

-- The same report twice is one report.
CREATE UNIQUE INDEX late_reports_once ON jobtop.late_reports
  (job_id, lock_token, coalesce(receipt_id, ''), coalesce(effect, ''));
CREATE INDEX late_reports_at ON jobtop.late_reports (at);
-- A receipt ID that a provider names is found here too.
CREATE INDEX late_reports_receipt_id ON jobtop.late_reports (receipt_id) WHERE receipt_id IS NOT NULL;

RESET ROLE;
