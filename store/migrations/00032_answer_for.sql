-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Puts an answer together from a row of actions and from what its job is at this moment. Not in plain
-- SQL: that would be planned anew at every call, which costs more than all of the rest of an act. For act
-- and settle, under whose search_path it runs. verdict and receipt_id
-- are the evidence where it was just read; else it is read here.
CREATE FUNCTION jobtop.answer_for(action jobtop.actions, conflict text DEFAULT NULL, verdict text DEFAULT NULL, receipt_id text DEFAULT NULL)
RETURNS jobtop.act_answer LANGUAGE plpgsql STABLE AS $$
DECLARE
  answer jobtop.act_answer;
BEGIN
  SELECT action.action_id, action.outcome, action.refusal, action.to_state, action.version, verdict, conflict,
         j.state, j.version, j.attempt, receipt_id, c.changed_by, c.changed_how, clock_timestamp() - j.state_changed_at, c.lock_token
    INTO answer
    FROM (SELECT) one
    LEFT JOIN jobtop.jobs j ON j.id = action.job_id
    LEFT JOIN LATERAL jobtop.last_change(j.id) c ON j.id IS NOT NULL;
  IF verdict IS NULL AND answer.state IS NOT NULL THEN
    SELECT e.verdict, e.receipt_id INTO answer.verdict, answer.receipt_id FROM jobtop.evidence(action.job_id) e;
  END IF;
  RETURN answer;
END $$;
-- +goose StatementEnd

RESET ROLE;
