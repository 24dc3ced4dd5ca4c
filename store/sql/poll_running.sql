-- The signs of life of the running jobs: how many are stuck, and the worst of them. Heartbeats are not
-- indexed, so each row has to be looked at: those claimed longest ago, up to a bound, and for the newest
-- heartbeat the latest claims too, since a claim is a sign of life.
WITH oldest AS MATERIALIZED (
  SELECT j.heartbeat_at, j.heartbeat_timeout,
         jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp()) AS stuck_for
    FROM jobtop.jobs j
   WHERE j.state = 'running'
   ORDER BY j.state_changed_at LIMIT @bound::bigint + 1
), newest AS MATERIALIZED (
  SELECT j.heartbeat_at, j.heartbeat_timeout
    FROM jobtop.jobs j
   WHERE j.state = 'running'
   ORDER BY j.state_changed_at DESC LIMIT @newest::bigint
), seen AS (
  SELECT o.heartbeat_at, o.heartbeat_timeout FROM oldest o UNION ALL SELECT n.heartbeat_at, n.heartbeat_timeout FROM newest n
)
SELECT (SELECT count(*) FROM oldest),
       (SELECT count(o.stuck_for) FROM oldest o),
       (SELECT (extract(epoch FROM max(o.stuck_for)) * 1000000)::bigint FROM oldest o),
       (SELECT (extract(epoch FROM statement_timestamp() - max(s.heartbeat_at)) * 1000000)::bigint FROM seen s),
       (SELECT (extract(epoch FROM min(s.heartbeat_timeout)) * 1000000)::bigint FROM seen s);
