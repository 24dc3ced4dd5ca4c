-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- An attempt that did not succeed, and what is known of its effect:
--   not_begun  the provider was never called (after an intent the record cannot back that: it counts as unknown)
--   refused    the provider, or whoever stood before it, definitely did not do it
--   unknown    it may have happened
-- The answer is the state the job went to: failed (it will be tried again after the backoff), dead
-- (no attempts are left, or retry is false), review (unknown); or lease_lost, and a late report is kept.
CREATE FUNCTION jobtop.fail(job_id text, token uuid, effect text, retry boolean DEFAULT true, category text DEFAULT NULL, detail text DEFAULT NULL,
                            base double precision DEFAULT 3, cap double precision DEFAULT 300)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  begun  CONSTANT text := jobtop.enter('fail');
  job    jobs%ROWTYPE;
  moment timestamptz;
  ending text;
  target text;
BEGIN
  IF fail.token IS NULL OR fail.effect IS NULL OR fail.effect NOT IN ('not_begun', 'refused', 'unknown') THEN
    RAISE EXCEPTION 'fail needs the token of the claim and an effect: not_begun, refused or unknown' USING ERRCODE = '22023';
  END IF;
  IF NOT (coalesce(fail.base, -1) >= 0 AND coalesce(fail.cap, -1) >= 0 AND fail.base < 1e9 AND fail.cap < 1e9) THEN
    RAISE EXCEPTION 'fail needs a base and a cap of 0 to a thousand million seconds' USING ERRCODE = '22023';
  END IF;
  SELECT * INTO job FROM jobs j WHERE j.id = fail.job_id FOR NO KEY UPDATE;
  IF NOT FOUND OR job.lock_token IS DISTINCT FROM fail.token THEN
    RETURN jobtop.report_late(fail.job_id, fail.token, NULL, NULL, fail.effect, fail.category, fail.detail);
  END IF;

  ending := CASE WHEN fail.effect = 'not_begun' AND job.effect_at IS NOT NULL THEN 'unknown' ELSE fail.effect END;
  target := CASE WHEN ending = 'unknown' THEN 'review'
                 WHEN coalesce(fail.retry, true) AND job.attempt < job.max_attempts THEN 'failed'
                 ELSE 'dead' END;
  moment := clock_timestamp();
  UPDATE attempts a
     SET finished_at = moment, heartbeat_at = job.heartbeat_at, effect_at = job.effect_at,
         records_intent = a.records_intent OR job.effect_at IS NOT NULL, outcome = ending, to_state = target,
         error_category = left(fail.category, 128), error_detail = fail.detail
   WHERE a.job_id = job.id AND a.attempt = job.attempt;
  UPDATE jobs j
     SET state = target, error_category = left(fail.category, 128), error_detail = fail.detail,
         run_at = CASE WHEN target = 'failed' THEN moment + jobtop.backoff(job.attempt, fail.base, fail.cap) ELSE j.run_at END
   WHERE j.id = job.id;
  RETURN target;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.fail TO jobtop_worker;

RESET ROLE;
