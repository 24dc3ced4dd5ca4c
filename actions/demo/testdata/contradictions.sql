-- What no history may hold, each with a name. Empty when everything tells one story.
WITH counted AS (
  SELECT j.id, j.attempt, j.version, count(a.attempt) AS attempts, count(*) FILTER (WHERE a.outcome <> 'fenced') AS ended,
         (SELECT count(*) FROM jobtop.actions c WHERE c.job_id = j.id AND c.outcome = 'applied') AS applied
    FROM jobtop.jobs j LEFT JOIN jobtop.attempts a ON a.job_id = j.id
   GROUP BY j.id
), last AS (
  SELECT DISTINCT ON (a.job_id) a.* FROM jobtop.attempts a ORDER BY a.job_id, a.attempt DESC
)
SELECT 'done without a receipt' AS what, id AS which FROM jobtop.jobs j WHERE state = 'done' AND NOT EXISTS (SELECT FROM jobtop.receipts r WHERE r.job_id = j.id)
UNION ALL SELECT 'receipt of a job that is not done, or of another kind', r.job_id FROM jobtop.receipts r
 WHERE NOT EXISTS (SELECT FROM jobtop.jobs j WHERE j.id = r.job_id AND j.state = 'done' AND j.kind = r.kind AND r.attempt = j.attempt)
UNION ALL SELECT 'receipt not recorded as its job became done', r.job_id FROM jobtop.receipts r JOIN jobtop.jobs j ON j.id = r.job_id
 WHERE abs(extract(epoch FROM j.state_changed_at - r.recorded_at)) > 1
UNION ALL SELECT 'receipt by a worker whose attempt did not end done', r.job_id FROM jobtop.receipts r
 WHERE r.action_id IS NULL AND NOT EXISTS (SELECT FROM jobtop.attempts a WHERE a.job_id = r.job_id AND a.attempt = r.attempt AND a.outcome = 'done' AND a.worker = r.recorded_by)
UNION ALL SELECT 'receipt by an operator without the action', r.job_id FROM jobtop.receipts r
 WHERE r.action_id IS NOT NULL AND NOT EXISTS (SELECT FROM jobtop.actions a WHERE a.action_id = r.action_id AND a.job_id = r.job_id
   AND a.receipt_id = r.receipt_id AND a.operator = r.recorded_by AND a.verb = 'done' AND a.outcome = 'applied')
UNION ALL SELECT 'attempts are not 1 to attempt', id FROM counted WHERE attempts <> attempt
UNION ALL SELECT 'version does not count the changes', id FROM counted WHERE version <> 1 + attempt + applied + ended
UNION ALL SELECT 'running without an open attempt of its token', id FROM jobtop.jobs j
 WHERE state = 'running' AND NOT EXISTS (SELECT FROM last l WHERE l.job_id = j.id AND l.finished_at IS NULL AND l.lock_token = j.lock_token AND l.worker = j.worker AND l.attempt = j.attempt)
UNION ALL SELECT 'open attempt of a job that does not run', l.job_id FROM jobtop.attempts l JOIN jobtop.jobs j ON j.id = l.job_id WHERE l.finished_at IS NULL AND j.state <> 'running'
UNION ALL SELECT 'attempt of no job', a.job_id FROM jobtop.attempts a WHERE NOT EXISTS (SELECT FROM jobtop.jobs j WHERE j.id = a.job_id)
UNION ALL SELECT 'attempt out of order', a.job_id FROM jobtop.attempts a JOIN jobtop.attempts b ON b.job_id = a.job_id AND b.attempt = a.attempt + 1
 WHERE a.finished_at IS NULL OR a.finished_at > b.claimed_at
UNION ALL SELECT 'attempt with moments out of order', a.job_id FROM jobtop.attempts a
 WHERE a.effect_at < a.claimed_at OR a.finished_at < a.claimed_at OR a.finished_at < a.effect_at OR a.heartbeat_at < a.claimed_at OR a.heartbeat_at > a.finished_at
UNION ALL SELECT 'attempt with an outcome that leads elsewhere', a.job_id FROM jobtop.attempts a
 WHERE (a.outcome = 'done') <> (a.to_state = 'done' AND a.outcome <> 'fenced') OR (a.outcome = 'unknown' AND a.to_state <> 'review')
    OR (a.outcome IN ('not_begun', 'refused') AND a.to_state NOT IN ('failed', 'dead'))
UNION ALL SELECT 'fenced attempt without an action', a.job_id FROM jobtop.attempts a
 WHERE a.outcome = 'fenced' AND NOT EXISTS (SELECT FROM jobtop.actions c WHERE c.job_id = a.job_id AND c.outcome = 'applied' AND c.lock_token = a.lock_token AND c.from_state = 'running' AND c.to_state = a.to_state)
UNION ALL SELECT 'intent by a worker that records none', a.job_id FROM jobtop.attempts a WHERE a.effect_at IS NOT NULL AND NOT a.records_intent
UNION ALL SELECT 'intent of the job is not that of its last attempt', id FROM jobtop.jobs j JOIN last l ON l.job_id = j.id WHERE l.finished_at IS NOT NULL AND j.effect_at IS DISTINCT FROM l.effect_at
UNION ALL SELECT 'attempt that did not end whole', a.job_id FROM jobtop.attempts a
 WHERE num_nulls(a.finished_at, a.outcome, a.to_state) NOT IN (0, 3) OR (a.outcome = 'not_begun' AND a.effect_at IS NOT NULL)
UNION ALL SELECT 'state is not where the last change led', j.id FROM jobtop.jobs j
  LEFT JOIN last l ON l.job_id = j.id
  LEFT JOIN LATERAL (SELECT a.to_state, a.at FROM jobtop.actions a WHERE a.job_id = j.id AND a.outcome = 'applied' ORDER BY a.at DESC LIMIT 1) c ON true
 WHERE j.state <> CASE WHEN c.at IS NOT NULL AND (l.attempt IS NULL OR c.at >= coalesce(l.finished_at, l.claimed_at)) THEN c.to_state
                       WHEN l.attempt IS NULL THEN 'pending' WHEN l.finished_at IS NULL THEN 'running' ELSE l.to_state END
UNION ALL SELECT 'moments of a job out of order', id FROM jobtop.jobs j
 WHERE claimed_at < created_at OR state_changed_at < created_at OR state_changed_at < claimed_at OR heartbeat_at < claimed_at OR effect_at < claimed_at
    OR heartbeat_at > clock_timestamp() OR state_changed_at > clock_timestamp()
UNION ALL SELECT 'effect key taken by two jobs', min(id) FROM jobtop.jobs j GROUP BY effect_key HAVING count(*) > 1
UNION ALL SELECT 'applied action that is no edge', a.job_id FROM jobtop.actions a
 WHERE a.outcome = 'applied' AND a.job_id IS NOT NULL AND NOT EXISTS (SELECT FROM jobtop.edges e WHERE e.from_state = a.from_state AND e.to_state = a.to_state AND (e.actor = 'operator' OR a.verb = 'direct'))
UNION ALL SELECT 'applied action on what was not seen', a.job_id FROM jobtop.actions a
 WHERE a.outcome = 'applied' AND a.job_id IS NOT NULL AND (a.seen_state <> a.from_state OR a.version <> a.seen_version + 1)
UNION ALL SELECT 'action of no job', a.job_id FROM jobtop.actions a WHERE a.job_id IS NOT NULL AND NOT EXISTS (SELECT FROM jobtop.jobs j WHERE j.id = a.job_id)
UNION ALL SELECT 'uncertain requeue without its confirmation', a.job_id FROM jobtop.actions a
  JOIN jobtop.attempts t ON t.job_id = a.job_id AND t.attempt = a.attempt
 WHERE a.verb = 'requeue' AND a.outcome = 'applied' AND t.outcome = 'unknown' AND NOT 'may_have_happened' = ANY (a.confirmations)
UNION ALL SELECT 'late report of an attempt that was not fenced', l.job_id FROM jobtop.late_reports l
 WHERE NOT EXISTS (SELECT FROM jobtop.attempts a WHERE a.job_id = l.job_id AND a.attempt = l.attempt AND a.lock_token = l.lock_token AND a.outcome = 'fenced' AND a.finished_at < l.at)
UNION ALL SELECT 'paused kind without the action', p.kind FROM jobtop.paused p
 WHERE NOT EXISTS (SELECT FROM jobtop.actions a WHERE a.verb = 'pause' AND a.kind = p.kind AND a.at = p.since)
UNION ALL SELECT 'job of a paused kind that was claimed meanwhile', a.job_id FROM jobtop.attempts a JOIN jobtop.jobs j ON j.id = a.job_id JOIN jobtop.paused p ON p.kind = j.kind
 WHERE a.claimed_at > p.since
