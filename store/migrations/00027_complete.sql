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
  job    jobs%ROWTYPE;
  moment timestamptz;
  taken  text;
BEGIN
  IF complete.token IS NULL THEN
    RAISE EXCEPTION 'complete needs the token of the claim' USING ERRCODE = '22023';
  END IF;
  PERFORM jobtop.enter('complete');
  IF complete.receipt_id IS NULL OR length(complete.receipt_id) NOT BETWEEN 1 AND 200
     OR complete.receipt_id ~ '[[:cntrl:]]' OR complete.receipt_id <> btrim(complete.receipt_id) THEN
    RETURN 'receipt_invalid';
  END IF;

  SELECT * INTO job FROM jobs j WHERE j.id = complete.job_id FOR NO KEY UPDATE;
  IF NOT FOUND OR job.lock_token IS DISTINCT FROM complete.token THEN
    RETURN jobtop.report_late(complete.job_id, complete.token, complete.receipt_id, complete.result, NULL, NULL, NULL);
  END IF;

  moment := clock_timestamp();
  INSERT INTO receipts (job_id, kind, receipt_id, result, attempt, recorded_by, recorded_at)
  VALUES (job.id, job.kind, complete.receipt_id, complete.result, job.attempt, job.worker, moment)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    UPDATE attempts a SET finished_at = moment, heartbeat_at = job.heartbeat_at, outcome = 'done', to_state = 'done'
     WHERE a.job_id = job.id AND a.attempt = job.attempt;
    UPDATE jobs j SET state = 'done' WHERE j.id = job.id;
    RETURN 'done';
  END IF;

  SELECT r.job_id INTO taken FROM receipts r WHERE r.receipt_id = complete.receipt_id AND r.kind = job.kind;
  UPDATE attempts a
     SET finished_at = moment, heartbeat_at = job.heartbeat_at, outcome = 'unknown', to_state = 'review', error_category = 'receipt taken',
         error_detail = format('the receipt %s came back, which job %s has', quote_literal(complete.receipt_id), quote_literal(taken))
   WHERE a.job_id = job.id AND a.attempt = job.attempt;
  UPDATE jobs j
     SET state = 'review', error_category = 'receipt taken',
         error_detail = format('the receipt %s came back, which job %s has', quote_literal(complete.receipt_id), quote_literal(taken))
   WHERE j.id = job.id;
  RETURN 'review';
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.complete TO jobtop_worker;

RESET ROLE;
