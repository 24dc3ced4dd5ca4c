-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- The inside of begin_effects, as record_intent is that of begin_effect. The jobs that are plainly in order
-- are written by one statement; every other row is a record_intent by itself.
CREATE FUNCTION jobtop.record_intents(job_ids text[], token uuid)
RETURNS TABLE (n bigint, answer text, effect_key text, receipt_id text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz;
  begun  text[];
  keys   text[];
BEGIN
  PERFORM jobtop.enter('begin_effect');
  moment := clock_timestamp();
  WITH held AS MATERIALIZED (
    SELECT j.id
      FROM jobs j
     WHERE j.id = ANY (record_intents.job_ids) AND j.lock_token = record_intents.token AND j.effect_at IS NULL
       AND NOT EXISTS (SELECT FROM late_reports l WHERE l.job_id = j.id AND l.receipt_id IS NOT NULL)
     ORDER BY j.id
       FOR NO KEY UPDATE OF j
  ), marked AS (
    UPDATE jobs j SET effect_at = moment FROM held h WHERE j.id = h.id RETURNING j.id, j.effect_key
  )
  SELECT array_agg(m.id), array_agg(m.effect_key) INTO begun, keys FROM marked m;

  RETURN QUERY
    SELECT u.n, 'begin', b.effect_key, NULL::text
      FROM unnest(record_intents.job_ids) WITH ORDINALITY AS u(id, n) JOIN unnest(begun, keys) AS b(id, effect_key) ON b.id = u.id;
  RETURN QUERY
    SELECT u.n, i.answer, i.effect_key, i.receipt_id
      FROM unnest(record_intents.job_ids) WITH ORDINALITY AS u(id, n), LATERAL jobtop.record_intent(u.id, record_intents.token) i
     WHERE u.id <> ALL (coalesce(begun, '{}'));
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.record_intents TO jobtop_worker;

RESET ROLE;
