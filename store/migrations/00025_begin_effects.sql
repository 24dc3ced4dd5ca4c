-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- begin_effect for a batch under one token, with one commit. The answers stand in the order of
-- the ids; a lost lease is an answer like any other and keeps nobody else from beginning.
CREATE PROCEDURE jobtop.begin_effects(job_ids text[], token uuid, INOUT answers text[] DEFAULT NULL, INOUT effect_keys text[] DEFAULT NULL, INOUT receipt_ids text[] DEFAULT NULL)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT pg_catalog.array_agg(i.answer ORDER BY i.n), pg_catalog.array_agg(i.effect_key ORDER BY i.n), pg_catalog.array_agg(i.receipt_id ORDER BY i.n)
    INTO answers, effect_keys, receipt_ids
    FROM jobtop.record_intents(begin_effects.job_ids, begin_effects.token) i;
  COMMIT;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON PROCEDURE jobtop.begin_effects TO jobtop_worker;

RESET ROLE;
