-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- Lets workers claim a kind again. Answers whether it was paused (where it was not, the record says refused);
-- repeated with the same action id it changes nothing more.
CREATE FUNCTION jobtop.resume(action_id uuid, kind text, operator text, reason text, client text DEFAULT NULL)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, jobtop, pg_temp SET lock_timeout = '2s' AS $$
#variable_conflict use_column
DECLARE
  was boolean;
BEGIN
  IF coalesce(btrim(resume.reason), '') = '' OR coalesce(resume.kind, '') = '' THEN
    RAISE EXCEPTION 'resume needs a kind and a reason' USING ERRCODE = '22023';
  END IF;
  PERFORM jobtop.enter('resume');
  was := EXISTS (SELECT FROM paused p WHERE p.kind = resume.kind AND (p.until IS NULL OR p.until > clock_timestamp()));
  INSERT INTO actions (action_id, verb, kind, from_state, operator, client, reason, outcome, refusal)
  VALUES (resume.action_id, 'resume', resume.kind, CASE WHEN was THEN 'paused' END, resume.operator, resume.client, btrim(resume.reason),
          CASE WHEN was THEN 'applied' ELSE 'refused' END, CASE WHEN NOT was THEN 'not_paused' END)
  ON CONFLICT (action_id) DO NOTHING;
  IF FOUND THEN
    DELETE FROM paused p WHERE p.kind = resume.kind;
    RETURN was;
  END IF;
  RETURN EXISTS (SELECT FROM actions a WHERE a.action_id = resume.action_id AND a.verb = 'resume' AND a.kind = resume.kind
                    AND a.outcome = 'applied');
END $$;
-- +goose StatementEnd

GRANT EXECUTE ON FUNCTION jobtop.resume TO jobtop_operator;

RESET ROLE;
