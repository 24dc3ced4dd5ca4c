-- What an incident adds to it: 60,000 jobs waiting, and 60,000 whose workers are gone.
SET session_replication_role = replica;
INSERT INTO jobtop.jobs (id, kind, effect_key, run_at, state_changed_at)
SELECT 'waiting-' || i, 'kind-' || i % 20, 'waiting-' || i, at, at
  FROM generate_series(1, 60000) i, LATERAL (SELECT clock_timestamp() - i / 3 * interval '1 second' AS at) a;
INSERT INTO jobtop.jobs (id, kind, effect_key, state, version, attempt, lock_token, worker, claimed_at, heartbeat_at, state_changed_at)
SELECT 'gone-' || i, 'kind-' || i % 20, 'gone-' || i, 'running', 2, 1, md5(i::text)::uuid, 'w-' || i % 50, at, at + interval '1 minute', at
  FROM generate_series(1, 60000) i, LATERAL (SELECT clock_timestamp() - interval '1 hour' - i / 3 * interval '1 second' AS at) a;
RESET session_replication_role;
