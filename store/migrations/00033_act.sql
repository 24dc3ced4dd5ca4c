-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- One verb, on one job, by one operator; bound to the state and version that were seen, exactly once
-- for its key. Statement order is the promise: lock the job; decide on evidence read under the lock;
-- write the action under the client's key, which waits for and yields to a settle; change the job last.
-- A key that is there already changes nothing and gets the stored answer. Other arguments under a
-- used key fail with JT011 (key_reused). "confirmations" holds what the operator was asked and typed:
-- may_have_happened for a requeue of what may have, stop for a hold of a job that is alive.
CREATE FUNCTION jobtop.act(action_id uuid, verb text, job_id text, seen_state text, seen_version bigint, operator text, reason text,
                           receipt_id text DEFAULT NULL, confirmations text[] DEFAULT '{}', lookup jsonb DEFAULT NULL,
                           client text DEFAULT NULL, delay interval DEFAULT NULL)
RETURNS jobtop.act_answer LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, jobtop, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_column
DECLARE
  begun    CONSTANT text := jobtop.enter('act');
  job      jobs%ROWTYPE;
  action   actions%ROWTYPE;
  stored   actions%ROWTYPE;
  verdict  text;
  proof    text; -- the receipt it rests on
  conflict text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'act must run in a READ COMMITTED transaction' USING ERRCODE = 'JT010',
      HINT = 'Under a fixed snapshot it could decide on evidence that is no longer true.';
  END IF;
  IF act.action_id IS NULL OR act.job_id IS NULL OR act.seen_state IS NULL OR act.seen_version IS NULL
     OR act.verb IS NULL OR act.verb NOT IN ('requeue', 'done', 'dead', 'hold') OR coalesce(act.operator, '') = '' THEN
    RAISE EXCEPTION 'act needs an action id, a verb (requeue, done, dead, hold), a job id, the state and version seen, and an operator' USING ERRCODE = '22023';
  END IF;

  -- 1. Lock the job.
  BEGIN
    SELECT * INTO job FROM jobs j WHERE j.id = act.job_id FOR NO KEY UPDATE;
  EXCEPTION WHEN lock_not_available THEN
    action.refusal := 'busy';
  END;

  action.action_id := act.action_id;
  action.verb := act.verb;
  action.job_id := act.job_id;
  action.kind := job.kind;
  action.from_state := job.state;
  action.to_state := CASE act.verb WHEN 'requeue' THEN 'pending' WHEN 'hold' THEN 'review' ELSE act.verb END;
  action.seen_state := act.seen_state;
  action.seen_version := act.seen_version;
  action.attempt := job.attempt;
  action.lock_token := job.lock_token;
  action.operator := act.operator;
  action.db_role := session_user;
  action.client := act.client;
  action.reason := nullif(btrim(act.reason), '');
  action.confirmations := coalesce(act.confirmations, '{}');
  action.lookup := act.lookup;
  action.receipt_id := nullif(btrim(act.receipt_id), '');
  action.delay := act.delay;

  LOOP
    BEGIN
      -- 2. Decide, on what is true now that nobody else can change it.
      action.at := clock_timestamp();
      SELECT e.verdict, e.receipt_id INTO verdict, proof FROM evidence(job.id) e;
      IF act.verb = 'done' THEN
        SELECT r.job_id INTO conflict FROM receipts r
         WHERE (r.receipt_id = action.receipt_id AND r.kind = job.kind AND r.job_id <> job.id)
            OR (r.job_id = job.id AND r.receipt_id <> action.receipt_id)
         LIMIT 1;
      END IF;
      action.refusal := CASE
        WHEN action.refusal = 'busy' THEN 'busy'
        WHEN job.id IS NULL THEN 'not_found'
        WHEN (job.state, job.version) IS DISTINCT FROM (act.seen_state, act.seen_version) THEN 'changed'
        WHEN NOT EXISTS (SELECT FROM edges e WHERE e.from_state = job.state AND e.to_state = action.to_state AND e.actor = 'operator') THEN 'no_edge'
        WHEN job.state = 'running'
             AND stuck_for(job.heartbeat_at, job.heartbeat_timeout, job.progress_at, job.claimed_at, job.progress_timeout, action.at) IS NULL
             AND NOT (act.verb = 'hold' AND 'stop' = ANY (action.confirmations)) THEN 'alive'
        WHEN action.reason IS NULL THEN 'reason_required'
        WHEN act.verb = 'done' AND action.receipt_id IS NULL THEN 'receipt_required'
        WHEN act.verb = 'done' AND conflict IS NOT NULL THEN 'receipt_conflict'
        WHEN act.verb = 'requeue' AND verdict IN ('happened', 'may_have_happened', 'not_known')
             AND NOT 'may_have_happened' = ANY (action.confirmations) THEN 'uncertain'
      END;
      action.outcome := CASE WHEN action.refusal IS NULL THEN 'applied' ELSE 'refused' END;
      action.version := CASE WHEN action.refusal IS NULL THEN job.version + 1 END;

      -- 3. Write it under the client's key. This waits for a settle in flight under the same key.
      INSERT INTO actions VALUES (action.*) ON CONFLICT (action_id) DO NOTHING;
      IF NOT FOUND THEN
        SELECT * INTO stored FROM actions a WHERE a.action_id = act.action_id;
        IF stored.outcome <> 'void' AND
           (stored.verb, stored.job_id, stored.seen_state, stored.seen_version, stored.operator, stored.reason, stored.receipt_id, stored.confirmations, stored.delay)
           IS DISTINCT FROM
           (action.verb, action.job_id, action.seen_state, action.seen_version, action.operator, action.reason, action.receipt_id, action.confirmations, action.delay) THEN
          RAISE EXCEPTION 'action % was made with other arguments', act.action_id USING ERRCODE = 'JT011',
            HINT = 'Nothing was changed now. An action id names one action and is never used again.';
        END IF;
        RETURN answer_for(stored);
      END IF;

      -- 4. Only now change anything.
      IF action.refusal IS NULL THEN
        IF act.verb = 'done' THEN
          INSERT INTO receipts (job_id, kind, receipt_id, attempt, recorded_by, action_id, recorded_at)
          SELECT job.id, job.kind, action.receipt_id, job.attempt, act.operator, act.action_id, action.at
           WHERE NOT EXISTS (SELECT FROM receipts r WHERE r.job_id = job.id);
        END IF;
        IF job.state = 'running' THEN
          UPDATE attempts a
             SET finished_at = action.at, heartbeat_at = job.heartbeat_at, effect_at = job.effect_at,
                 records_intent = a.records_intent OR job.effect_at IS NOT NULL, outcome = 'fenced', to_state = action.to_state
           WHERE a.job_id = job.id AND a.attempt = job.attempt;
        END IF;
        UPDATE jobs j
           SET state = action.to_state,
               run_at = CASE WHEN act.verb = 'requeue' THEN action.at + coalesce(greatest(act.delay, '0'::interval), '0'::interval) ELSE j.run_at END
         WHERE j.id = job.id;
      END IF;

      -- What was just changed under the lock need not be read again. Of all acts, only one that adds the
      -- receipt changes the evidence.
      IF action.refusal IS NULL THEN
        RETURN (action.action_id, action.outcome, NULL, action.to_state, action.version,
                CASE WHEN act.verb = 'done' THEN 'happened' ELSE verdict END, NULL,
                action.to_state, action.version, job.attempt, CASE WHEN act.verb = 'done' THEN action.receipt_id ELSE proof END,
                action.operator, action.verb, clock_timestamp() - action.at, action.lock_token)::act_answer;
      END IF;
      RETURN answer_for(action, conflict, CASE WHEN job.id IS NOT NULL THEN verdict END, proof);
    EXCEPTION WHEN unique_violation THEN
      -- The receipt was recorded for another job in this very moment: decide again, it shows now.
      NULL;
    END;
  END LOOP;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.act TO jobtop_operator;

RESET ROLE;
