-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- A job begins as pending, untouched; whoever inserts it.
CREATE FUNCTION jobtop.guard_insert() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, jobtop, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'job % must begin as pending, version 1, attempt 0, with nothing claimed', quote_literal(NEW.id)
    USING ERRCODE = 'JT004', HINT = 'Leave those columns to their defaults, or call jobtop.enqueue.';
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_insert BEFORE INSERT ON jobtop.jobs FOR EACH ROW
  WHEN (NEW.state <> 'pending' OR NEW.version <> 1 OR NEW.attempt <> 0 OR NEW.lock_token IS NOT NULL OR NEW.worker IS NOT NULL
        OR NEW.claimed_at IS NOT NULL OR NEW.heartbeat_at IS NOT NULL OR NEW.progress_at IS NOT NULL OR NEW.effect_at IS NOT NULL)
  EXECUTE FUNCTION jobtop.guard_insert();

RESET ROLE;
