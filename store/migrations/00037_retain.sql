-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Retention, one bounded batch a call: removes up to batch jobs that have been done for longer than
-- done_for, with their receipts, attempts and late reports, then actions (of jobs that are gone, or of
-- no job) and expired run-once keys. Actions are kept for at least 30 days, whatever is asked. What was
-- removed is written down as an action. Call it until it answers 0. A removed receipt no longer guards
-- against its ID coming back.
CREATE FUNCTION jobtop.retain(done_for interval, actions_for interval, batch integer DEFAULT 1000)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment   timestamptz := clock_timestamp();
  before   timestamptz := moment - greatest(retain.actions_for, '30 days'::interval);
  ids      text[];
  jobs_n   bigint := 0;
  acts_n   bigint := 0;
  once_n   bigint := 0;
BEGIN
  PERFORM jobtop.enter('retain');
  IF retain.done_for IS NULL OR retain.done_for < '1 day'::interval OR retain.actions_for IS NULL OR coalesce(retain.batch, 0) NOT BETWEEN 1 AND 100000 THEN
    RAISE EXCEPTION 'retain needs a done_for of at least a day, an actions_for, and a batch from 1 to 100000' USING ERRCODE = '22023';
  END IF;
  SELECT array_agg(o.job_id) INTO ids
    FROM (SELECT r.job_id FROM receipts r WHERE r.recorded_at < moment - retain.done_for ORDER BY r.recorded_at LIMIT retain.batch FOR UPDATE SKIP LOCKED) o;
  IF ids IS NOT NULL THEN
    DELETE FROM late_reports l WHERE l.job_id = ANY (ids);
    DELETE FROM attempts a WHERE a.job_id = ANY (ids);
    DELETE FROM receipts r WHERE r.job_id = ANY (ids);
    DELETE FROM jobs j WHERE j.id = ANY (ids);
    jobs_n := cardinality(ids);
  END IF;
  DELETE FROM actions a
   WHERE a.action_id IN (SELECT o.action_id FROM actions o
                          WHERE o.at < before AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = o.job_id)
                          ORDER BY o.at LIMIT retain.batch);
  GET DIAGNOSTICS acts_n = ROW_COUNT;
  DELETE FROM jobtop.once o WHERE o.key IN (SELECT x.key FROM jobtop.once x WHERE x.expires_at < moment - '1 day'::interval LIMIT retain.batch);
  GET DIAGNOSTICS once_n = ROW_COUNT;
  IF jobs_n + acts_n + once_n > 0 THEN
    INSERT INTO actions (action_id, verb, operator, client, reason, outcome)
    VALUES (gen_random_uuid(), 'retention', session_user, nullif(current_setting('application_name'), ''),
            format('removed %s done jobs older than %s, %s actions older than %s, %s run-once keys', jobs_n, retain.done_for, acts_n, greatest(retain.actions_for, '30 days'::interval), once_n),
            'applied');
  END IF;
  RETURN jobs_n + acts_n + once_n;
END $$;
-- +goose StatementEnd

RESET ROLE;
