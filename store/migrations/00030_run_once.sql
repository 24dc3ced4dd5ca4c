-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- A run-once token: true for whoever takes the key first, until it expires; everybody else gets
-- false and is counted as a skip. With a holder, the winner's repeated call is true again.
-- It spares work. It never stands in for the effect key: a token can expire while its holder runs.
CREATE FUNCTION jobtop.once(key text, ttl interval, holder text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  IF once.ttl IS NULL OR once.ttl <= '0'::interval THEN
    RAISE EXCEPTION 'once needs a time to live above zero' USING ERRCODE = '22023';
  END IF;
  PERFORM jobtop.enter('once');
  INSERT INTO jobtop.once AS o (key, holder, expires_at) VALUES (once.key, once.holder, moment + once.ttl)
  ON CONFLICT (key) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at WHERE o.expires_at <= moment;
  IF FOUND THEN
    RETURN true;
  END IF;
  PERFORM FROM jobtop.once o WHERE o.key = once.key AND o.holder = once.holder;
  IF FOUND THEN
    RETURN true;
  END IF;
  UPDATE jobtop.once o SET skips = o.skips + 1 WHERE o.key = once.key;
  RETURN false;
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.once TO jobtop_worker;

RESET ROLE;
