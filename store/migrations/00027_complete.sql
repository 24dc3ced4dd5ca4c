-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Done, with the receipt and the result, in one transaction. The answer is
--   done              it is, with this receipt (also when it was called before)
--   review            another job of the kind already has that receipt ID: a person has to look
--   lease_lost        the token no longer holds: no job was changed, the receipt is kept as a late report
--   receipt_invalid   the receipt ID is empty, longer than 200, or holds control characters or outer blanks: nothing was done
--   not_found         there is no such job; the receipt is kept as a late report
-- It answers rather than fails, so that in a batch one bad row keeps no other from its receipt.
CREATE FUNCTION jobtop.complete(job_id text, token uuid, receipt_id text, result jsonb DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  begun   CONSTANT text := jobtop.enter('complete');
  moment  timestamptz;
  held    uuid;
  kind_is text;
  tried   integer;
  sign    timestamptz; -- the last one of life
  intent  timestamptz;
  taken   text;
BEGIN
  IF complete.token IS NULL THEN
    RAISE EXCEPTION 'complete needs the token of the claim' USING ERRCODE = '22023';
  END IF;
  IF complete.receipt_id IS NULL OR length(complete.receipt_id) NOT BETWEEN 1 AND 200
     OR complete.receipt_id ~ '[[:cntrl:]]' OR complete.receipt_id <> btrim(complete.receipt_id) THEN
    RETURN 'receipt_invalid';
  END IF;

  -- The receipt of a job that the token holds, which this locks.
  INSERT INTO receipts (job_id, kind, receipt_id, result, attempt, recorded_by, recorded_at)
  SELECT j.id, j.kind, complete.receipt_id, complete.result, j.attempt, j.worker, clock_timestamp()
    FROM jobs j WHERE j.id = complete.job_id AND j.lock_token = complete.token
     FOR NO KEY UPDATE
  ON CONFLICT DO NOTHING
  RETURNING attempt, recorded_at INTO tried, moment;
  IF FOUND THEN
    UPDATE jobs j SET state = 'done' WHERE j.id = complete.job_id RETURNING j.heartbeat_at, j.effect_at INTO sign, intent;
    UPDATE attempts a
       SET finished_at = moment, heartbeat_at = sign, effect_at = intent, records_intent = a.records_intent OR intent IS NOT NULL,
           outcome = 'done', to_state = 'done'
     WHERE a.job_id = complete.job_id AND a.attempt = tried;
    RETURN 'done';
  END IF;

  SELECT j.lock_token, j.kind, j.attempt, j.heartbeat_at, j.effect_at INTO held, kind_is, tried, sign, intent
    FROM jobs j WHERE j.id = complete.job_id FOR NO KEY UPDATE;
  IF NOT FOUND OR held IS DISTINCT FROM complete.token THEN
    RETURN jobtop.report_late(complete.job_id, complete.token, complete.receipt_id, complete.result, NULL, NULL, NULL);
  END IF;
  moment := clock_timestamp();
  SELECT r.job_id INTO taken FROM receipts r WHERE r.receipt_id = complete.receipt_id AND r.kind = kind_is;
  UPDATE attempts a
     SET finished_at = moment, heartbeat_at = sign, effect_at = intent, records_intent = a.records_intent OR intent IS NOT NULL, outcome = 'unknown', to_state = 'review', error_category = 'receipt taken',
         error_detail = format('the receipt %s came back, which job %s has', quote_literal(complete.receipt_id), quote_literal(taken))
   WHERE a.job_id = complete.job_id AND a.attempt = tried;
  UPDATE jobs j
     SET state = 'review', error_category = 'receipt taken',
         error_detail = format('the receipt %s came back, which job %s has', quote_literal(complete.receipt_id), quote_literal(taken))
   WHERE j.id = complete.job_id;
  RETURN 'review';
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.complete TO jobtop_worker;

RESET ROLE;
