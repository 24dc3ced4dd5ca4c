-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Refuses every change of a job that is not an edge, whoever makes it, and completes those that are:
-- version, token, attempt and counters move together or not at all. Without a change of state it refuses
-- changes by hand of what only a claim or a heartbeat may move. The rules stand here once and
-- become two functions: guard_ours, for changes made by the functions of this schema, under their
-- owner and their search_path (not pinned a second time for each change), and which write attempts
-- and actions themselves; and guard_direct, for everybody else, whose change is written down in the
-- name of the session's role. The edges stand in the functions' text, so that no change has to look
-- them up; where jobtop.edges changes, they are written anew.
CREATE FUNCTION jobtop.write_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $do$
DECLARE
  rules text := $rules$
DECLARE
  direct CONSTANT boolean := TG_NAME = 'guard_direct' OR coalesce(current_setting('jobtop.via', true), '') = '';
BEGIN
  IF TG_NAME = 'guard_ours' AND current_user <> 'jobtop_owner' THEN
    RETURN NEW; -- guard_direct has seen to it
  END IF;
  IF NEW.state = OLD.state THEN
    IF direct AND
       (OLD.id, OLD.kind, OLD.version, OLD.attempt, OLD.lock_token, OLD.worker, OLD.claimed_at, OLD.heartbeat_at, OLD.progress,
        OLD.progress_at, OLD.effect_key, OLD.effect_at, OLD.created_at, OLD.state_changed_at)
       IS DISTINCT FROM
       (NEW.id, NEW.kind, NEW.version, NEW.attempt, NEW.lock_token, NEW.worker, NEW.claimed_at, NEW.heartbeat_at, NEW.progress,
        NEW.progress_at, NEW.effect_key, NEW.effect_at, NEW.created_at, NEW.state_changed_at) THEN
      RAISE EXCEPTION 'job %: only payload, run_at, max_attempts, the timeouts, source_version and the error may be changed by hand without a change of state',
        quote_literal(OLD.id) USING ERRCODE = 'JT003', HINT = 'Use jobtop requeue, done, dead or hold, or the functions that workers call.';
    END IF;
    RETURN NEW;
  END IF;
  IF (OLD.state || '>' || NEW.state) <> ALL (EDGES) THEN
    RAISE EXCEPTION 'no edge from % to % for job %', OLD.state, NEW.state, quote_literal(OLD.id)
      USING ERRCODE = 'JT001', HINT = 'The ways a job may change are in jobtop.edges; nothing leaves done.';
  END IF;
  IF direct AND (NEW.id <> OLD.id OR NEW.kind <> OLD.kind OR NEW.effect_key <> OLD.effect_key OR NEW.created_at <> OLD.created_at) THEN
    RAISE EXCEPTION 'id, kind, effect_key and created_at of job % never change', quote_literal(OLD.id)
      USING ERRCODE = 'JT003', HINT = 'Enqueue another job instead.';
  END IF;

  NEW.version := OLD.version + 1;
  NEW.attempt := OLD.attempt;
  NEW.state_changed_at := clock_timestamp();
  IF OLD.state = 'running' THEN
    NEW.lock_token := NULL;
  END IF;

  IF NEW.state = 'running' THEN
    NEW.attempt := OLD.attempt + 1;
    -- By hand and unnamed, it is whoever did it, not the worker of an earlier attempt.
    NEW.worker := CASE WHEN direct AND NEW.worker IS NOT DISTINCT FROM OLD.worker THEN session_user ELSE coalesce(NEW.worker, session_user) END;
    NEW.claimed_at := NEW.state_changed_at;
    NEW.heartbeat_at := NEW.state_changed_at;
    NEW.progress := NULL;
    NEW.progress_at := NULL;
    IF direct OR NEW.effect_at IS NOT NULL THEN -- a claim of ours says whether the effect begins with it
      NEW.effect_at := CASE WHEN NOT direct THEN NEW.state_changed_at END;
    END IF;
    NEW.error_category := NULL;
    NEW.error_detail := NULL;
  ELSIF NEW.state = 'pending' THEN
    -- The whole of a requeue, so that the next claim can work.
    NEW.max_attempts := greatest(NEW.max_attempts, OLD.attempt + 1);
    NEW.run_at := greatest(NEW.state_changed_at, CASE WHEN NEW.run_at <> OLD.run_at THEN NEW.run_at END);
    NEW.progress := NULL;
    NEW.progress_at := NULL;
    NEW.error_category := NULL;
    NEW.error_detail := NULL;
  ELSIF NEW.state = 'done' AND NOT EXISTS (SELECT FROM jobtop.receipts r WHERE r.job_id = OLD.id) THEN
    RAISE EXCEPTION 'job % has no receipt, so it cannot be done', quote_literal(OLD.id)
      USING ERRCODE = 'JT002', HINT = 'Insert its row in jobtop.receipts first, in the same transaction.';
  END IF;

  IF direct THEN
    IF OLD.state = 'running' THEN
      UPDATE jobtop.attempts a
         SET finished_at = NEW.state_changed_at, heartbeat_at = OLD.heartbeat_at, effect_at = OLD.effect_at,
             records_intent = a.records_intent OR OLD.effect_at IS NOT NULL, outcome = 'fenced', to_state = NEW.state
       WHERE a.job_id = OLD.id AND a.attempt = OLD.attempt AND a.finished_at IS NULL;
    ELSIF NEW.state = 'running' AND NEW.lock_token IS NOT NULL THEN
      INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent)
      VALUES (NEW.id, NEW.attempt, NEW.lock_token, NEW.worker, NEW.source_version, OLD.state, NEW.claimed_at, false);
    END IF;
    INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt,
                         lock_token, operator, client, reason, receipt_id, outcome, at)
    VALUES (gen_random_uuid(), 'direct', OLD.id, OLD.kind, OLD.state, NEW.state, OLD.state, OLD.version, NEW.version, NEW.attempt,
            coalesce(OLD.lock_token, NEW.lock_token), session_user, nullif(current_setting('application_name'), ''),
            'changed by hand, past the functions of jobtop',
            (SELECT r.receipt_id FROM jobtop.receipts r WHERE r.job_id = OLD.id), 'applied', NEW.state_changed_at);
  END IF;
  RETURN NEW;
END $rules$;
BEGIN
  rules := replace(rules, 'EDGES', format('%L::text[]', (SELECT coalesce(array_agg(DISTINCT e.from_state || '>' || e.to_state), '{}') FROM jobtop.edges e)));
  EXECUTE format('CREATE OR REPLACE FUNCTION jobtop.guard_ours() RETURNS trigger LANGUAGE plpgsql AS %L', rules);
  EXECUTE format('CREATE OR REPLACE FUNCTION jobtop.guard_direct() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS %L', rules);
  RETURN NULL;
END $do$;
-- +goose StatementEnd

CREATE TRIGGER write_guard AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON jobtop.edges FOR EACH STATEMENT EXECUTE FUNCTION jobtop.write_guard();
UPDATE jobtop.edges SET note = note; -- writes it for the first time

RESET ROLE;
