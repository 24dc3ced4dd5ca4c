-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Records that the effect begins, and commits that, before the provider is called. A procedure,
-- because only one can commit: inside an open transaction it fails, instead of promising what
-- could still be rolled back. Repeat it with the same arguments when the answer was lost.
-- Every name is qualified, since a procedure that commits cannot pin its search_path.
CREATE PROCEDURE jobtop.begin_effect(job_id text, token uuid, INOUT answer text DEFAULT NULL, INOUT effect_key text DEFAULT NULL, INOUT receipt_id text DEFAULT NULL)
LANGUAGE plpgsql AS $$
DECLARE
  intent record;
BEGIN
  intent := jobtop.record_intent(job_id, token);
  answer := intent.answer;
  effect_key := intent.effect_key;
  receipt_id := intent.receipt_id;
  COMMIT;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON PROCEDURE jobtop.begin_effect TO jobtop_worker;

RESET ROLE;
