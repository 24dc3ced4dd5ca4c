-- +goose Up
SET LOCAL ROLE jobtop_owner;

-- +goose StatementBegin
-- How each function of ours that writes begins. It names itself for the guard, and makes the
-- transaction wait for its commit to be on disk, whatever the session's default; a stronger setting
-- (a standby's answer) stays. Both end with the transaction. Inlined into its callers, so it has
-- their search_path.
CREATE FUNCTION jobtop.enter(via text) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT pg_catalog.set_config('jobtop.via', via, true)
      || CASE WHEN pg_catalog.current_setting('synchronous_commit') IN ('off', 'local')
              THEN pg_catalog.set_config('synchronous_commit', 'on', true) ELSE '' END
$$;
-- +goose StatementEnd

RESET ROLE;
