-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- The setting that keeps a session's hint of a kind's queue.
CREATE FUNCTION jobtop.queue_hint(kind text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'jobtop.queue_' || pg_catalog.to_hex(pg_catalog.hashtextextended(kind, 7106))
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- When the first due job of a kind came due; NULL when none is. For claim, under whose settings it runs.
-- While an old snapshot keeps vacuum from clearing away, the jobs that were claimed stay as dead entries
-- at the head of the queue, and a look from its beginning has to pass them all. Where three such looks in
-- a row were dear, the session remembers how far the queue was worked off and begins there. That is a hint
-- and no more: a job may still appear further back (its transaction took long, its run_at was set by
-- hand), so a whole look is taken again and again, as often as it may take a twentieth of the time.
-- The hint reaches back a second further than it need, for transactions that are about to commit.
CREATE FUNCTION jobtop.queue_head(kind text, moment timestamptz) RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  dear  CONSTANT interval := '5 milliseconds';
  most  CONSTANT interval := '10 seconds';
  name  CONSTANT text := jobtop.queue_hint(queue_head.kind);
  hint  double precision[] := string_to_array(nullif(current_setting(name, true), ''), ' '); -- dear looks, begin at, hold until
  begun CONSTANT timestamptz := clock_timestamp();
  whole CONSTANT boolean := hint IS NULL OR hint[1] < 3 OR begun >= to_timestamp(hint[3]);
  start CONSTANT timestamptz := CASE WHEN whole THEN '-infinity' ELSE to_timestamp(hint[2]) END;
  took  interval;
  head  timestamptz;
BEGIN
  SELECT j.run_at INTO head
    FROM jobtop.jobs j
   WHERE j.state IN ('pending', 'failed') AND j.kind = queue_head.kind AND j.run_at >= start AND j.run_at <= queue_head.moment
   ORDER BY j.run_at LIMIT 1;
  IF whole THEN
    took := clock_timestamp() - begun;
    IF took > dear THEN
      hint := ARRAY[least(coalesce(hint[1], 0) + 1, 3), 0, extract(epoch FROM clock_timestamp() + least(20 * took, most))];
    ELSIF hint IS NOT NULL THEN
      hint := NULL;
      PERFORM set_config(name, '', false);
    END IF;
  END IF;
  IF hint IS NOT NULL THEN
    hint[2] := extract(epoch FROM least(head, queue_head.moment - interval '1 second') - interval '1 millisecond');
    PERFORM set_config(name, array_to_string(hint, ' '), false);
  END IF;
  RETURN head;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Takes up to batch due jobs of the kinds, oldest due first, and stamps them with the worker's
-- token. A worker chooses a new token (a UUID, best a version 7 one) for every claim and repeats
-- the call with the same token when the answer was lost: a token that has claimed before gets the
-- jobs that it still holds, and no others. Locked rows are skipped, so claims never wait for each
-- other. Kinds that are paused are left alone.
-- A claim that records intents is not waited for on disk: nothing rests on it before the intent, whose
-- commit, which is waited for, takes it along. Where a crash of the server loses it, the job waits as
-- before, and the token is told that it holds nothing.
-- begins is for begin_next, of which this is the inside: the intents are recorded along with the claim. By
-- itself that is no promise. A job whose effect has no intent, as an earlier attempt reported a receipt
-- late, then comes without its effect key.
CREATE FUNCTION jobtop.claim(worker text, token uuid, kinds text[], batch integer DEFAULT 1, records_intent boolean DEFAULT false,
                             source_version text DEFAULT NULL, heartbeat_timeout interval DEFAULT NULL, progress_timeout interval DEFAULT NULL,
                             begins boolean DEFAULT false)
RETURNS TABLE (job_id text, kind text, attempt integer, max_attempts integer, effect_key text, payload jsonb)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp
-- One plan for every batch, and one that walks the queue: the planner cannot know how small the limit is.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
  moment CONSTANT timestamptz := clock_timestamp();
  alone  CONSTANT boolean := pg_current_xact_id_if_assigned() IS NULL; -- nothing else was written in this transaction
  begun  text;
  queue  text[];
  heads  timestamptz[];
  hinted boolean;
  room   integer := batch;
  taken  integer;
  head   timestamptz;
BEGIN
  IF claim.token IS NULL OR coalesce(claim.worker, '') = '' OR coalesce(cardinality(claim.kinds), 0) = 0 OR coalesce(claim.batch, 0) NOT BETWEEN 1 AND 1000 THEN
    RAISE EXCEPTION 'claim needs a worker, a token, at least one kind and a batch from 1 to 1000' USING ERRCODE = '22023';
  END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'claim must run in a READ COMMITTED transaction' USING ERRCODE = 'JT010',
      HINT = 'Under a fixed snapshot a repeated call could not see what the first one took.';
  END IF;
  begun := jobtop.enter('claim');
  IF claim.records_intent AND alone AND NOT claim.begins THEN
    begun := set_config('synchronous_commit', 'off', true);
  END IF;
  -- Two calls with one token (the first one's answer was lost) come one after the other.
  begun := pg_advisory_xact_lock(hashtextextended(claim.token::text, 7106))::text;

  IF EXISTS (SELECT FROM attempts a WHERE a.lock_token = claim.token) THEN
    RETURN QUERY
      SELECT j.id::text, j.kind::text, j.attempt, j.max_attempts, CASE WHEN NOT claim.begins OR j.effect_at IS NOT NULL THEN j.effect_key::text END, j.payload
        FROM attempts a JOIN jobs j ON j.id = a.job_id
       WHERE a.lock_token = claim.token AND j.lock_token = claim.token
       ORDER BY j.run_at, j.id;
    RETURN;
  END IF;

  hinted := cardinality(claim.kinds) > 1 OR coalesce(current_setting(jobtop.queue_hint(claim.kinds[1]), true), '') <> '';
  IF hinted THEN
    -- The kind whose first job has waited longest comes first.
    SELECT array_agg(k.kind ORDER BY k.head), array_agg(k.head ORDER BY k.head) INTO queue, heads
      FROM (SELECT d.kind, jobtop.queue_head(d.kind, moment) AS head FROM (SELECT DISTINCT unnest(claim.kinds)) AS d(kind)) k
     WHERE k.head IS NOT NULL;
  ELSE
    queue := claim.kinds;
    heads := '{-infinity}';
  END IF;
  FOR n IN 1 .. coalesce(cardinality(queue), 0) LOOP
    RETURN QUERY
      WITH logged AS (
        -- Locks the jobs, and writes down their attempts as they are about to be.
        INSERT INTO attempts (job_id, attempt, lock_token, worker, source_version, claimed_from, claimed_at, records_intent)
        SELECT j.id, j.attempt + 1, claim.token, claim.worker, coalesce(claim.source_version, j.source_version), j.state, clock_timestamp(), coalesce(claim.records_intent OR claim.begins, false)
          FROM jobs j
         WHERE j.state IN ('pending', 'failed') AND j.kind = queue[n] AND j.run_at >= heads[n] AND j.run_at <= moment
           AND NOT EXISTS (SELECT FROM paused p WHERE p.kind = queue[n] AND (p.until IS NULL OR p.until > moment))
         ORDER BY j.run_at, j.id
         LIMIT room
           FOR NO KEY UPDATE SKIP LOCKED
        RETURNING job_id
      )
      UPDATE jobs j
         SET state = 'running', lock_token = claim.token, worker = claim.worker,
             effect_at = CASE WHEN claim.begins AND NOT EXISTS (SELECT FROM late_reports r WHERE r.job_id = j.id AND r.receipt_id IS NOT NULL) THEN moment END,
             source_version = coalesce(claim.source_version, j.source_version),
             heartbeat_timeout = coalesce(claim.heartbeat_timeout, j.heartbeat_timeout),
             progress_timeout = coalesce(claim.progress_timeout, j.progress_timeout)
        FROM logged l
       WHERE j.id = l.job_id
      RETURNING j.id::text, j.kind::text, j.attempt, j.max_attempts, CASE WHEN NOT claim.begins OR j.effect_at IS NOT NULL THEN j.effect_key::text END, j.payload;
    GET DIAGNOSTICS taken = ROW_COUNT;
    room := room - taken;
    EXIT WHEN room <= 0;
  END LOOP;
  IF NOT hinted AND clock_timestamp() - moment > '5 milliseconds'::interval THEN
    head := jobtop.queue_head(claim.kinds[1], moment); -- looks at what made it dear
  END IF;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.claim TO jobtop_worker;

RESET ROLE;
