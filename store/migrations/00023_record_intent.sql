-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- The inside of begin_effect. The intent stands in the job until the attempt ends. By itself it is no promise: only the commit in begin_effect makes
-- the intent stand before the provider is called, so workers call that.
-- answer is "begin" (call the provider with effect_key), "happened" (do not: complete with
-- receipt_id, which an earlier attempt reported late), "lease_lost" or "not_found" (stop).
CREATE FUNCTION jobtop.record_intent(job_id text, token uuid, OUT answer text, OUT effect_key text, OUT receipt_id text)
RETURNS record LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  begun   CONSTANT text := jobtop.enter('begin_effect');
  moment  timestamptz;
  held    uuid;
  cleared boolean := false; -- no late receipt stands against it
BEGIN
  LOOP
    -- What is plainly in order is written without a look first.
    UPDATE jobs j SET effect_at = clock_timestamp()
     WHERE j.id = record_intent.job_id AND j.lock_token = record_intent.token AND j.effect_at IS NULL
       AND (cleared OR NOT EXISTS (SELECT FROM late_reports l WHERE l.job_id = record_intent.job_id AND l.receipt_id IS NOT NULL))
    RETURNING j.effect_key INTO record_intent.effect_key;
    IF FOUND THEN
      answer := 'begin';
      RETURN;
    END IF;

    SELECT j.lock_token, j.effect_key, j.effect_at INTO held, record_intent.effect_key, moment FROM jobs j WHERE j.id = record_intent.job_id FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      answer := 'not_found';
      RETURN;
    ELSIF held IS DISTINCT FROM record_intent.token THEN
      answer := 'lease_lost';
      record_intent.effect_key := NULL;
      RETURN;
    END IF;
    IF EXISTS (SELECT FROM late_reports l WHERE l.job_id = record_intent.job_id AND l.receipt_id IS NOT NULL) THEN
      SELECT e.receipt_id INTO record_intent.receipt_id FROM evidence(record_intent.job_id) e WHERE e.verdict = 'happened';
      IF FOUND THEN
        answer := 'happened';
        RETURN;
      END IF;
    END IF;
    IF moment IS NOT NULL THEN
      answer := 'begin';
      RETURN;
    END IF;
    cleared := true;
  END LOOP;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.record_intent TO jobtop_worker;

RESET ROLE;
