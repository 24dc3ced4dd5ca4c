-- Which database this is, and the timeline that its server writes on; none on a replica.
SELECT current_database()::text, (SELECT c.system_identifier FROM pg_catalog.pg_control_system() c)::text,
       CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8) END;
