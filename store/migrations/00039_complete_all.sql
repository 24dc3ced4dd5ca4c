-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- complete for a batch, with one commit: each job under its own token. The answers stand in the order of
-- the ids. What is plainly in order is written by a statement for all of them, in the order of the ids, so
-- that two batches never wait for each other in a ring; every other row is a complete by itself, and keeps
-- none of them from its receipt.
CREATE FUNCTION jobtop.complete_all(job_ids text[], tokens uuid[], receipt_ids text[], results jsonb[] DEFAULT NULL)
RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  moment  timestamptz;
  done    text[];
  answers text[];
BEGIN
  IF coalesce(cardinality(complete_all.job_ids), 0) NOT BETWEEN 1 AND 1000
     OR cardinality(complete_all.tokens) IS DISTINCT FROM cardinality(complete_all.job_ids)
     OR cardinality(complete_all.receipt_ids) IS DISTINCT FROM cardinality(complete_all.job_ids) THEN
    RAISE EXCEPTION 'complete_all needs 1 to 1000 job ids, and a token and a receipt for each' USING ERRCODE = '22023';
  END IF;
  PERFORM jobtop.enter('complete');

  WITH given AS (
    -- Of an id that stands there twice, the first; the others answer by themselves.
    SELECT DISTINCT ON (u.id) u.id, u.token, u.receipt_id, u.result
      FROM unnest(complete_all.job_ids, complete_all.tokens, complete_all.receipt_ids, complete_all.results) WITH ORDINALITY AS u(id, token, receipt_id, result, n)
     WHERE length(u.receipt_id) BETWEEN 1 AND 200 AND u.receipt_id !~ '[[:cntrl:]]' AND u.receipt_id = btrim(u.receipt_id)
     ORDER BY u.id, u.n
  ), held AS MATERIALIZED (
    SELECT j.id, j.kind, j.attempt, j.worker, g.receipt_id, g.result
      FROM given g JOIN jobs j ON j.id = g.id AND j.lock_token = g.token
     ORDER BY j.id
       FOR NO KEY UPDATE OF j
  ), recorded AS (
    INSERT INTO receipts (job_id, kind, receipt_id, result, attempt, recorded_by, recorded_at)
    SELECT h.id, h.kind, h.receipt_id, h.result, h.attempt, h.worker, clock_timestamp() FROM held h
    ON CONFLICT DO NOTHING
    RETURNING job_id
  )
  SELECT array_agg(r.job_id) INTO done FROM recorded r;

  moment := clock_timestamp(); -- under the locks, so that no heartbeat is later
  UPDATE attempts a
     SET finished_at = moment, heartbeat_at = j.heartbeat_at, effect_at = j.effect_at,
         records_intent = a.records_intent OR j.effect_at IS NOT NULL, outcome = 'done', to_state = 'done'
    FROM jobs j
   WHERE j.id = ANY (done) AND a.job_id = j.id AND a.attempt = j.attempt;
  UPDATE jobs j SET state = 'done' WHERE j.id = ANY (done);

  SELECT array_agg(a.answer ORDER BY a.n) INTO answers
    FROM (SELECT u.n, CASE WHEN u.first AND u.id = ANY (done) THEN 'done'
                           ELSE jobtop.complete(u.id, u.token, u.receipt_id, u.result) END AS answer
            FROM (SELECT v.*, row_number() OVER (PARTITION BY v.id ORDER BY v.n) = 1 AS first
                    FROM unnest(complete_all.job_ids, complete_all.tokens, complete_all.receipt_ids, complete_all.results) WITH ORDINALITY AS v(id, token, receipt_id, result, n)
                   ORDER BY v.id COLLATE "C", v.n
                  OFFSET 0) u
          OFFSET 0) a;
  RETURN answers;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.complete_all TO jobtop_worker;

RESET ROLE;
