-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Keeps workers from claiming a kind, for a time or until it is resumed. Jobs that are running run on.
-- Repeated with the same action id it changes nothing and answers the same. True when it is paused now
-- by this action; false when a settle voided it.
CREATE FUNCTION jobtop.pause(action_id uuid, kind text, operator text, reason text, duration interval DEFAULT NULL, client text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  IF coalesce(btrim(pause.reason), '') = '' OR coalesce(pause.kind, '') = '' OR pause.duration <= '0'::interval THEN
    RAISE EXCEPTION 'pause needs a kind, a reason, and a duration above zero if any' USING ERRCODE = '22023';
  END IF;
  PERFORM jobtop.enter('pause');
  INSERT INTO actions (action_id, verb, kind, operator, client, reason, delay, outcome, at)
  VALUES (pause.action_id, 'pause', pause.kind, pause.operator, pause.client, btrim(pause.reason), pause.duration, 'applied', moment)
  ON CONFLICT (action_id) DO NOTHING;
  IF FOUND THEN
    INSERT INTO paused AS p (kind, by, reason, since, until)
    VALUES (pause.kind, pause.operator, btrim(pause.reason), moment, moment + pause.duration)
    ON CONFLICT (kind) DO UPDATE SET by = excluded.by, reason = excluded.reason, until = excluded.until,
      since = CASE WHEN p.until <= moment THEN excluded.since ELSE p.since END;
  END IF;
  RETURN EXISTS (SELECT FROM actions a WHERE a.action_id = pause.action_id AND a.verb = 'pause' AND a.kind = pause.kind AND a.outcome = 'applied');
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.pause TO jobtop_operator;

RESET ROLE;
