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
  begun     CONSTANT text := jobtop.enter('act');
  target    CONSTANT text := CASE act.verb WHEN 'requeue' THEN 'pending' WHEN 'hold' THEN 'review' ELSE act.verb END;
  cause     CONSTANT text := nullif(btrim(act.reason), '');
  receipt   CONSTANT text := nullif(btrim(act.receipt_id), '');
  confirmed CONSTANT text[] := coalesce(act.confirmations, '{}');
  job       jobs%ROWTYPE;
  stored    actions%ROWTYPE;
  moment    timestamptz;
  verdict   text;
  proof     text; -- the receipt it rests on
  conflict  text; -- the job that has the receipt, or another for this job
  refusal   text;
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
    refusal := 'busy';
  END;

  LOOP
    BEGIN
      -- 2. Decide, on what is true now that nobody else can change it.
      moment := clock_timestamp();
      SELECT e.verdict, e.receipt_id INTO verdict, proof FROM evidence(job.id) e;
      IF act.verb = 'done' THEN
        SELECT r.job_id INTO conflict FROM receipts r
         WHERE (r.receipt_id = receipt AND r.kind = job.kind AND r.job_id <> job.id)
            OR (r.job_id = job.id AND r.receipt_id <> receipt)
         LIMIT 1;
      END IF;
      refusal := CASE
        WHEN refusal = 'busy' THEN 'busy'
        WHEN job.id IS NULL THEN 'not_found'
        WHEN (job.state, job.version) IS DISTINCT FROM (act.seen_state, act.seen_version) THEN 'changed'
        WHEN NOT EXISTS (SELECT FROM edges e WHERE e.from_state = job.state AND e.to_state = target AND e.actor = 'operator') THEN 'no_edge'
        WHEN job.state = 'running'
             AND stuck_for(job.heartbeat_at, job.heartbeat_timeout, job.progress_at, job.claimed_at, job.progress_timeout, moment) IS NULL
             AND NOT (act.verb = 'hold' AND 'stop' = ANY (confirmed)) THEN 'alive'
        WHEN cause IS NULL THEN 'reason_required'
        WHEN act.verb = 'done' AND receipt IS NULL THEN 'receipt_required'
        WHEN act.verb = 'done' AND conflict IS NOT NULL THEN 'receipt_conflict'
        WHEN act.verb = 'requeue' AND verdict IN ('happened', 'may_have_happened', 'not_known')
             AND NOT 'may_have_happened' = ANY (confirmed) THEN 'uncertain'
      END;

      -- 3. Write it under the client's key. This waits for a settle in flight under the same key.
      INSERT INTO actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, lock_token, operator, db_role,
                           client, reason, confirmations, lookup, receipt_id, delay, outcome, refusal, at)
      VALUES (act.action_id, act.verb, act.job_id, job.kind, job.state, target, act.seen_state, act.seen_version,
              CASE WHEN refusal IS NULL THEN job.version + 1 END, job.attempt, job.lock_token, act.operator, session_user,
              act.client, cause, confirmed, act.lookup, receipt, act.delay, CASE WHEN refusal IS NULL THEN 'applied' ELSE 'refused' END, refusal, moment)
      ON CONFLICT (action_id) DO NOTHING;
      IF NOT FOUND THEN
        SELECT * INTO stored FROM actions a WHERE a.action_id = act.action_id;
        IF stored.outcome <> 'void' AND
           (stored.verb, stored.job_id, stored.seen_state, stored.seen_version, stored.operator, stored.reason, stored.receipt_id, stored.confirmations, stored.delay)
           IS DISTINCT FROM
           (act.verb, act.job_id, act.seen_state, act.seen_version, act.operator, cause, receipt, confirmed, act.delay) THEN
          RAISE EXCEPTION 'action % was made with other arguments', act.action_id USING ERRCODE = 'JT011',
            HINT = 'Nothing was changed now. An action id names one action and is never used again.';
        END IF;
        RETURN answer_for(stored);
      END IF;

      -- 4. Only now change anything.
      IF refusal IS NULL THEN
        IF act.verb = 'done' THEN
          INSERT INTO receipts (job_id, kind, receipt_id, attempt, recorded_by, action_id, recorded_at)
          SELECT job.id, job.kind, receipt, job.attempt, act.operator, act.action_id, moment
           WHERE NOT EXISTS (SELECT FROM receipts r WHERE r.job_id = job.id);
        END IF;
        IF job.state = 'running' THEN
          UPDATE attempts a
             SET finished_at = moment, heartbeat_at = job.heartbeat_at, effect_at = job.effect_at,
                 records_intent = a.records_intent OR job.effect_at IS NOT NULL, outcome = 'fenced', to_state = target
           WHERE a.job_id = job.id AND a.attempt = job.attempt;
        END IF;
        UPDATE jobs j
           SET state = target,
               run_at = CASE WHEN act.verb = 'requeue' THEN moment + coalesce(greatest(act.delay, '0'::interval), '0'::interval) ELSE j.run_at END
         WHERE j.id = job.id;
      END IF;

      -- What was just changed under the lock need not be read again. Of all acts, only one that adds the
      -- receipt changes the evidence.
      IF refusal IS NULL THEN
        RETURN (act.action_id, 'applied', NULL, target, job.version + 1,
                CASE WHEN act.verb = 'done' THEN 'happened' ELSE verdict END, NULL,
                target, job.version + 1, job.attempt, CASE WHEN act.verb = 'done' THEN receipt ELSE proof END,
                act.operator, act.verb, clock_timestamp() - moment, job.lock_token)::act_answer;
      END IF;
      SELECT * INTO stored FROM actions a WHERE a.action_id = act.action_id;
      RETURN answer_for(stored, conflict, CASE WHEN job.id IS NOT NULL THEN verdict END, proof);
    EXCEPTION WHEN unique_violation THEN
      -- The receipt was recorded for another job in this very moment: decide again, it shows now.
      NULL;
    END;
  END LOOP;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.act TO jobtop_operator;

RESET ROLE;
