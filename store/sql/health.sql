-- The database's own health: the oldest transaction, sessions that wait for locks, dead rows of jobs, and how far
-- a replica is behind (of a primary: its slowest one). Other roles' transactions show only to pg_monitor.
SELECT (extract(epoch FROM max(clock_timestamp() - a.xact_start)) * 1000000)::bigint,
       count(*) FILTER (WHERE a.wait_event_type = 'Lock'),
       (SELECT s.n_dead_tup::float8 / nullif(s.n_live_tup + s.n_dead_tup, 0)
          FROM pg_catalog.pg_stat_user_tables s WHERE s.schemaname = 'jobtop' AND s.relname = 'jobs'),
       CASE WHEN pg_is_in_recovery()
            THEN (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000000)::bigint
            ELSE (SELECT (extract(epoch FROM max(r.replay_lag)) * 1000000)::bigint FROM pg_catalog.pg_stat_replication r) END,
       pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')
  FROM pg_catalog.pg_stat_activity a
 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid();
