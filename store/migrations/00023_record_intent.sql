-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- The inside of begin_effect. By itself it is no promise: only the commit in begin_effect makes
-- the intent stand before the provider is called, so workers call that.
-- answer is "begin" (call the provider with effect_key), "happened" (do not: complete with
-- receipt_id, which an earlier attempt reported late), "lease_lost" or "not_found" (stop).
CREATE FUNCTION jobtop.record_intent(job_id text, token uuid, OUT answer text, OUT effect_key text, OUT receipt_id text)
RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  job    jobs%ROWTYPE;
  moment timestamptz;
BEGIN
  PERFORM jobtop.enter('begin_effect');
  SELECT * INTO job FROM jobs j WHERE j.id = record_intent.job_id FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    answer := 'not_found';
    RETURN;
  ELSIF job.lock_token IS DISTINCT FROM token THEN
    answer := 'lease_lost';
    RETURN;
  END IF;
  record_intent.effect_key := job.effect_key;

  IF EXISTS (SELECT FROM late_reports l WHERE l.job_id = job.id AND l.receipt_id IS NOT NULL) THEN
    SELECT e.receipt_id INTO record_intent.receipt_id FROM evidence(job.id) e WHERE e.verdict = 'happened';
    IF FOUND THEN
      answer := 'happened';
      RETURN;
    END IF;
  END IF;

  answer := 'begin';
  IF job.effect_at IS NULL THEN
    moment := clock_timestamp();
    UPDATE jobs j SET effect_at = moment WHERE j.id = job.id;
    UPDATE attempts a SET effect_at = moment, records_intent = true WHERE a.job_id = job.id AND a.attempt = job.attempt;
  END IF;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.record_intent TO jobtop_worker;

RESET ROLE;
