-- +goose Up
-- The console compares the schema's version with its own; the table belongs to whoever applies.
GRANT SELECT ON jobtop.schema_version TO jobtop_viewer;

SET LOCAL ROLE jobtop_owner;

-- Nobody may call a function of ours until it is granted. The default has to be
-- taken away from the owner itself: one set for the schema alone cannot revoke it.
ALTER DEFAULT PRIVILEGES FOR ROLE jobtop_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
GRANT USAGE ON SCHEMA jobtop TO jobtop_viewer, jobtop_payload, jobtop_operator, jobtop_worker;

RESET ROLE;
