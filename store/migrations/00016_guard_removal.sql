-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Nothing is deleted but by jobtop.retain, and nothing is ever truncated.
CREATE FUNCTION jobtop.guard_removal() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, jobtop, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '% on jobtop.% is refused', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'JT006', HINT = 'Old rows are removed by jobtop.retain, which records what it removed.';
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_delete BEFORE DELETE ON jobtop.jobs FOR EACH ROW
  WHEN (NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') = 'retain')) EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_delete BEFORE DELETE ON jobtop.receipts FOR EACH ROW
  WHEN (NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') = 'retain')) EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_delete BEFORE DELETE ON jobtop.attempts FOR EACH ROW
  WHEN (NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') = 'retain')) EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_delete BEFORE DELETE ON jobtop.actions FOR EACH ROW
  WHEN (NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') = 'retain')) EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_delete BEFORE DELETE ON jobtop.late_reports FOR EACH ROW
  WHEN (NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') = 'retain')) EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON jobtop.jobs         EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON jobtop.receipts     EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON jobtop.attempts     EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON jobtop.actions      EXECUTE FUNCTION jobtop.guard_removal();
CREATE TRIGGER guard_truncate BEFORE TRUNCATE ON jobtop.late_reports EXECUTE FUNCTION jobtop.guard_removal();

RESET ROLE;
