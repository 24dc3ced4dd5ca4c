-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Refuses by-hand changes of what only a change of state, a claim or a heartbeat may move. Called for
-- our functions too, and then done at once: a condition on the trigger would cost each heartbeat more.
CREATE FUNCTION jobtop.guard_facts() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_user = 'jobtop_owner' AND coalesce(current_setting('jobtop.via', true), '') <> '' THEN
    RETURN NEW;
  END IF;
  IF OLD.state = NEW.state
     AND (OLD.id, OLD.kind, OLD.version, OLD.attempt, OLD.lock_token, OLD.worker, OLD.claimed_at, OLD.heartbeat_at, OLD.progress,
          OLD.progress_at, OLD.effect_key, OLD.effect_at, OLD.created_at, OLD.state_changed_at)
         IS DISTINCT FROM
         (NEW.id, NEW.kind, NEW.version, NEW.attempt, NEW.lock_token, NEW.worker, NEW.claimed_at, NEW.heartbeat_at, NEW.progress,
          NEW.progress_at, NEW.effect_key, NEW.effect_at, NEW.created_at, NEW.state_changed_at) THEN
    RAISE EXCEPTION 'job %: only payload, run_at, max_attempts, the timeouts, source_version and the error may be changed by hand without a change of state',
      quote_literal(OLD.id) USING ERRCODE = 'JT003', HINT = 'Use jobtop requeue, done, dead or hold, or the functions that workers call.';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER guard_facts
  BEFORE UPDATE OF id, kind, version, attempt, lock_token, worker, claimed_at, heartbeat_at, progress, progress_at, effect_key, effect_at, created_at, state_changed_at
  ON jobtop.jobs FOR EACH ROW EXECUTE FUNCTION jobtop.guard_facts();

RESET ROLE;
