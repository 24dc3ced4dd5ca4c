-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Receipts, actions and late reports never change; an attempt not once it has ended.
CREATE FUNCTION jobtop.guard_history() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_TABLE_NAME = 'attempts' AND current_user = 'jobtop_owner' THEN
    IF TG_OP = 'INSERT' OR OLD.finished_at IS NULL THEN
      RETURN NEW; -- an open attempt is the business of our functions and of the guard
    END IF;
  END IF;
  RAISE EXCEPTION 'rows of jobtop.% are history and never change', TG_TABLE_NAME
    USING ERRCODE = 'JT005', HINT = 'What was recorded wrongly is put right by a further action, with its reason.';
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.receipts FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.actions FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_history BEFORE UPDATE ON jobtop.late_reports FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_history BEFORE INSERT OR UPDATE ON jobtop.attempts FOR EACH ROW EXECUTE FUNCTION jobtop.guard_history();
CREATE TRIGGER guard_action BEFORE INSERT ON jobtop.actions FOR EACH ROW
  WHEN (current_user <> 'jobtop_owner') EXECUTE FUNCTION jobtop.guard_history();

RESET ROLE;
