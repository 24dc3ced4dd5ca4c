-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- A receipt stands only beside a done job: checked when its transaction commits.
CREATE FUNCTION jobtop.guard_receipt() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM jobs j WHERE j.id = NEW.job_id AND j.state = 'done' AND j.kind = NEW.kind) THEN
    RAISE EXCEPTION 'receipt % belongs to job %, which is not a done job of kind %',
      quote_literal(NEW.receipt_id), quote_literal(NEW.job_id), quote_literal(NEW.kind)
      USING ERRCODE = 'JT002', HINT = 'Insert the receipt and set the state to done in the same transaction.';
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- Our own functions always write both, so they are spared the check. The condition is short, since it is read
-- anew for each statement.
CREATE CONSTRAINT TRIGGER guard_receipt AFTER INSERT ON jobtop.receipts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((current_user = 'jobtop_owner'::text AND current_setting('jobtop.via', true) > '') IS NOT TRUE)
  EXECUTE FUNCTION jobtop.guard_receipt();

RESET ROLE;
