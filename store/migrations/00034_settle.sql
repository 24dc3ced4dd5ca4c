-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Finds out what became of an act whose answer was lost, and makes sure of it: a void row under the
-- same key either finds the act's row there (it landed), or takes its place (it never will). The
-- answer is read by a later statement, with a snapshot of its own. A plain look would not do: the
-- act may still be on its way, and commit after the look.
CREATE FUNCTION jobtop.settle(action_id uuid, verb text, job_id text, operator text, client text DEFAULT NULL)
RETURNS jobtop.act_answer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, jobtop, pg_temp SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
  begun  CONSTANT text := jobtop.enter('settle');
  stored actions%ROWTYPE;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'settle must run in a READ COMMITTED transaction' USING ERRCODE = 'JT010',
      HINT = 'Under a fixed snapshot it could not see an act that landed meanwhile.';
  END IF;
  IF settle.action_id IS NULL OR settle.verb IS NULL OR settle.verb NOT IN ('requeue', 'done', 'dead', 'hold', 'pause', 'resume')
     OR coalesce(settle.operator, '') = '' THEN
    RAISE EXCEPTION 'settle needs the action id, verb and operator of the act' USING ERRCODE = '22023';
  END IF;
  INSERT INTO actions (action_id, verb, job_id, operator, client, reason, outcome)
  VALUES (settle.action_id, settle.verb, settle.job_id, settle.operator, settle.client, 'its answer was lost, and it had not happened', 'void')
  ON CONFLICT (action_id) DO NOTHING;
  SELECT * INTO stored FROM actions a WHERE a.action_id = settle.action_id;
  RETURN answer_for(stored);
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.settle TO jobtop_operator;

RESET ROLE;
