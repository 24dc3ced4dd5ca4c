-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- How each function of ours that writes begins. It names itself for the guard, and makes the
-- transaction wait for its commit to be on disk, whatever the session's default; a stronger
-- setting (a standby's answer) stays. Both end with the transaction.
CREATE FUNCTION jobtop.enter(via text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('jobtop.via', enter.via, true);
  IF current_setting('synchronous_commit') IN ('off', 'local') THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END $$;
-- +goose StatementEnd

RESET ROLE;
