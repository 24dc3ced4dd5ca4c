-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- A sign of life for a job that the token holds, with the progress made where there is any to tell.
-- False: the lease is lost, stop at once. Not made durable: a heartbeat that a crash of the server
-- takes with it is followed by the next one.
CREATE FUNCTION jobtop.heartbeat(job_id text, token uuid, progress bigint DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  PERFORM set_config('jobtop.via', 'heartbeat', true);
  UPDATE jobs j
     SET heartbeat_at = moment,
         progress_at = CASE WHEN heartbeat.progress IS DISTINCT FROM j.progress AND heartbeat.progress IS NOT NULL THEN moment ELSE j.progress_at END,
         progress = coalesce(heartbeat.progress, j.progress)
   WHERE j.id = heartbeat.job_id AND j.lock_token = heartbeat.token;
  RETURN FOUND;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.heartbeat TO jobtop_worker;

RESET ROLE;
