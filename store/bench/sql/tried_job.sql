-- A job that was tried 10,000 times.
INSERT INTO jobtop.jobs (id, kind, state, version, attempt, max_attempts, worker, claimed_at, heartbeat_at, effect_key, error_category, state_changed_at)
VALUES (@tried::text, 'card.charge', 'dead', 20001, 10000, 10000, 'worker-1', clock_timestamp(), clock_timestamp(), @tried::text, 'refused', clock_timestamp());
