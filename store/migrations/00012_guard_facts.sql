-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Refuses by-hand changes of what only a change of state, a claim or a heartbeat may move.
CREATE FUNCTION jobtop.guard_facts() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, jobtop, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'job %: only payload, run_at, max_attempts, the timeouts, source_version and the error may be changed by hand without a change of state',
    quote_literal(OLD.id) USING ERRCODE = 'JT003', HINT = 'Use jobtop requeue, done, dead or hold, or the functions that workers call.';
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_facts BEFORE UPDATE ON jobtop.jobs FOR EACH ROW
  WHEN (OLD.state = NEW.state
        AND NOT (current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') <> '')
        AND (OLD.id, OLD.kind, OLD.version, OLD.attempt, OLD.lock_token, OLD.worker, OLD.claimed_at, OLD.heartbeat_at, OLD.progress,
             OLD.progress_at, OLD.effect_key, OLD.effect_at, OLD.created_at, OLD.state_changed_at)
            IS DISTINCT FROM
            (NEW.id, NEW.kind, NEW.version, NEW.attempt, NEW.lock_token, NEW.worker, NEW.claimed_at, NEW.heartbeat_at, NEW.progress,
             NEW.progress_at, NEW.effect_key, NEW.effect_at, NEW.created_at, NEW.state_changed_at))
  EXECUTE FUNCTION jobtop.guard_facts();

RESET ROLE;
