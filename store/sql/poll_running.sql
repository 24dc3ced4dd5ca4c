-- The running jobs: how many, how long the first has been running, and their signs of life: how many are stuck,
-- and the worst of them. Heartbeats are not indexed, so each row has to be looked at: those claimed longest ago,
-- up to a bound, and beyond it for the newest heartbeat the latest claims too, since a claim is a sign of life.
-- So is an attempt that its worker ended: the newest of the last hundred.
SELECT o.seen, (extract(epoch FROM statement_timestamp() - o.oldest) * 1000000)::bigint, o.stuck, (extract(epoch FROM o.worst) * 1000000)::bigint,
       (extract(epoch FROM statement_timestamp() - greatest(o.heartbeat_at, n.heartbeat_at)) * 1000000)::bigint,
       (extract(epoch FROM least(o.heartbeat_timeout, n.heartbeat_timeout)) * 1000000)::bigint,
       o.several,
       (SELECT (extract(epoch FROM statement_timestamp() - max(a.finished_at)) * 1000000)::bigint
          FROM (SELECT a.finished_at, a.outcome FROM jobtop.attempts a WHERE a.finished_at IS NOT NULL ORDER BY a.finished_at DESC LIMIT 100) a
         WHERE a.outcome <> 'fenced')
  FROM (SELECT count(*) AS seen, min(r.state_changed_at) AS oldest, count(r.stuck_for) AS stuck, max(r.stuck_for) AS worst,
               max(r.heartbeat_at) AS heartbeat_at, min(r.heartbeat_timeout) AS heartbeat_timeout,
               coalesce(min(r.worker) <> max(r.worker), false) AS several
          FROM (SELECT j.state_changed_at, j.heartbeat_at, j.heartbeat_timeout, j.worker COLLATE "C" AS worker,
                       jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp()) AS stuck_for
                  FROM jobtop.jobs j
                 WHERE j.state = 'running'
                 ORDER BY j.state_changed_at LIMIT @bound::bigint + 1) r) o
 CROSS JOIN LATERAL (SELECT max(r.heartbeat_at) AS heartbeat_at, min(r.heartbeat_timeout) AS heartbeat_timeout
                       FROM (SELECT j.heartbeat_at, j.heartbeat_timeout
                               FROM jobtop.jobs j
                              WHERE j.state = 'running' AND o.seen > @bound::bigint
                              ORDER BY j.state_changed_at DESC LIMIT @newest::bigint) r) n;
