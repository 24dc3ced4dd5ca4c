-- Creates what a migration stands on: the roles (of the whole server), the schema, and the caller's
-- right to make things in the owner's name. Does nothing the second time.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['jobtop_owner', 'jobtop_viewer', 'jobtop_payload', 'jobtop_operator', 'jobtop_worker'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        IF name = 'jobtop_operator' THEN
          GRANT jobtop_viewer TO jobtop_operator;
        END IF;
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- somebody who applies to another database of this server was faster
    END;
  END LOOP;
  IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
    GRANT jobtop_owner TO CURRENT_USER;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'jobtop') THEN
    CREATE SCHEMA jobtop AUTHORIZATION jobtop_owner;
  END IF;
END $$;
