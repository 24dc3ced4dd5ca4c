-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Adds a job. False when the id is there already, whatever that job says: the id is the job.
-- effect_key is the id unless given; run_at is now unless given.
CREATE FUNCTION jobtop.enqueue(id text, kind text, payload jsonb DEFAULT NULL, effect_key text DEFAULT NULL,
                               run_at timestamptz DEFAULT NULL, max_attempts integer DEFAULT 5,
                               heartbeat_timeout interval DEFAULT '60 seconds', progress_timeout interval DEFAULT NULL,
                               source_version text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
BEGIN
  PERFORM jobtop.enter('enqueue');
  INSERT INTO jobs (id, kind, payload, effect_key, run_at, max_attempts, heartbeat_timeout, progress_timeout, source_version)
  VALUES (enqueue.id, enqueue.kind, enqueue.payload, coalesce(enqueue.effect_key, enqueue.id), coalesce(enqueue.run_at, clock_timestamp()),
          enqueue.max_attempts, enqueue.heartbeat_timeout, enqueue.progress_timeout, enqueue.source_version)
  ON CONFLICT (id) DO NOTHING;
  RETURN FOUND;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.enqueue TO jobtop_worker;

RESET ROLE;
