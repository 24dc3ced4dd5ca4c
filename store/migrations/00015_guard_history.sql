-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Receipts, actions and late reports never change, nor does an attempt that has ended.
CREATE FUNCTION jobtop.guard_history() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'rows of jobtop.% are history and never change', TG_TABLE_NAME
    USING ERRCODE = 'JT005', HINT = 'What was recorded wrongly is put right by a further action, with its reason.';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- An attempt is written by our functions and by the guard alone, ends whole, and never changes once it has ended.
-- Each write of ours comes by: it does not pin the search_path that they have, and all others it refuses first.
CREATE FUNCTION jobtop.guard_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user OPERATOR(pg_catalog.<>) 'jobtop_owner' OR (TG_OP = 'UPDATE' AND OLD.finished_at IS NOT NULL) THEN
    RAISE EXCEPTION 'rows of jobtop.attempts are history and never change'
      USING ERRCODE = 'JT005', HINT = 'What was recorded wrongly is put right by a further action, with its reason.';
  END IF;
  IF num_nulls(NEW.finished_at, NEW.outcome, NEW.to_state) NOT IN (0, 3) OR (NEW.outcome = 'not_begun' AND NEW.effect_at IS NOT NULL) THEN
    RAISE EXCEPTION 'attempt % of job % must end whole, and not as not_begun after an intent', NEW.attempt, quote_literal(NEW.job_id)
      USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_attempt BEFORE INSERT OR UPDATE ON jobtop.attempts FOR EACH ROW EXECUTE FUNCTION jobtop.guard_attempt();
CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.receipts FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.actions FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.late_reports FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_action BEFORE INSERT ON jobtop.actions FOR EACH ROW
  WHEN (current_user <> 'jobtop_owner') EXECUTE FUNCTION jobtop.guard_history();

RESET ROLE;
