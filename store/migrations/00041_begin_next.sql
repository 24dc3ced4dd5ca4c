-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- For a worker that calls the provider as soon as it has a job: claims one and records its intent, and
-- completes the last one, all with one commit and one round trip a job instead of three. Without done_id
-- there is no last one. done_answer is what complete says of it; answer is
--   begin      call the provider, with effect_key
--   happened   do not: give receipt_id, which an earlier attempt reported late, as the next done_receipt
--   none       there is no job: none is due, or the last one was not ended as its receipt is invalid
--   lease_lost only of a repeated call: stop
-- Repeat it with the same arguments when its answer was lost. Where it fails, nothing was done of either:
-- call complete for the last job then. As claim and intent stand together, a crash after the claim always
-- leaves an effect that may have happened, never one that was not begun.
-- Every name is qualified, since a procedure that commits cannot pin its search_path.
CREATE PROCEDURE jobtop.begin_next(worker text, token uuid, kinds text[],
                                   done_id text DEFAULT NULL, done_token uuid DEFAULT NULL, done_receipt text DEFAULT NULL, done_result jsonb DEFAULT NULL,
                                   source_version text DEFAULT NULL, heartbeat_timeout interval DEFAULT NULL, progress_timeout interval DEFAULT NULL,
                                   INOUT done_answer text DEFAULT NULL, INOUT answer text DEFAULT NULL,
                                   INOUT job_id text DEFAULT NULL, INOUT kind text DEFAULT NULL, INOUT attempt integer DEFAULT NULL, INOUT max_attempts integer DEFAULT NULL,
                                   INOUT effect_key text DEFAULT NULL, INOUT receipt_id text DEFAULT NULL, INOUT payload jsonb DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
  intent record;
BEGIN
  IF token OPERATOR(pg_catalog.=) done_token THEN
    RAISE EXCEPTION 'begin_next needs a new token for the next job' USING ERRCODE = '22023';
  END IF;
  IF pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.<>) 'read committed' THEN
    -- A claim needs that, and the caller, outside of any transaction, could only set it for the session.
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  END IF;
  answer := 'none';
  IF done_id IS NOT NULL THEN
    done_answer := jobtop.complete(done_id, done_token, done_receipt, done_result);
  END IF;
  IF done_answer OPERATOR(pg_catalog.=) 'receipt_invalid' THEN
    COMMIT;
    RETURN;
  END IF;
  SELECT c.job_id, c.kind, c.attempt, c.max_attempts, c.effect_key, c.payload
    INTO job_id, kind, attempt, max_attempts, effect_key, payload
    FROM jobtop.claim(begin_next.worker, begin_next.token, begin_next.kinds, 1, true, begin_next.source_version,
                      begin_next.heartbeat_timeout, begin_next.progress_timeout, begins => true) c;
  IF effect_key IS NOT NULL THEN
    answer := 'begin';
  ELSIF job_id IS NOT NULL THEN
    intent := jobtop.record_intent(job_id, token);
    answer := intent.answer;
    effect_key := intent.effect_key;
    receipt_id := intent.receipt_id;
  END IF;
  COMMIT;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON PROCEDURE jobtop.begin_next TO jobtop_worker;

RESET ROLE;
