-- Jobs whose rows contradict each other. What explains a state is the newest event: a claim, the end of an
-- attempt, or an applied action; a job without any is pending.
SELECT j.id, j.kind, j.state, j.version, j.attempt, p.problem, e.state, r.receipt_id, last.attempt
  FROM unnest(@ids::text[]) AS k(id)
 CROSS JOIN LATERAL (SELECT j.id, j.kind, j.state, j.version, j.attempt, j.lock_token FROM jobtop.jobs j WHERE j.id = k.id) j
  LEFT JOIN LATERAL (SELECT a.attempt, a.lock_token, a.claimed_at, a.finished_at, a.to_state
                       FROM jobtop.attempts a WHERE a.job_id = j.id ORDER BY a.attempt DESC LIMIT 1) last ON true
  LEFT JOIN LATERAL (SELECT a.to_state, a.at
                       FROM jobtop.actions a WHERE a.job_id = j.id AND a.outcome = 'applied' ORDER BY a.at DESC LIMIT 1) act ON true
  LEFT JOIN LATERAL (SELECT r.receipt_id FROM jobtop.receipts r WHERE r.job_id = j.id) r ON true
 CROSS JOIN LATERAL (SELECT coalesce((SELECT v.state
                                        FROM (VALUES (act.to_state, act.at, 2),
                                                     (CASE WHEN last.finished_at IS NULL THEN 'running' ELSE last.to_state END,
                                                      coalesce(last.finished_at, last.claimed_at), 1)) AS v(state, at, rank)
                                       WHERE v.at IS NOT NULL
                                       ORDER BY v.at DESC, v.rank DESC LIMIT 1), 'pending') AS state) e
 CROSS JOIN LATERAL (VALUES
   ('done_without_receipt',    j.state = 'done' AND r.receipt_id IS NULL),
   ('receipt_without_done',    j.state <> 'done' AND r.receipt_id IS NOT NULL),
   ('running_without_attempt', j.state = 'running' AND (last.attempt IS DISTINCT FROM j.attempt OR last.finished_at IS NOT NULL
                                                        OR last.lock_token IS DISTINCT FROM j.lock_token)),
   ('attempt_left_open',       j.state <> 'running' AND last.attempt IS NOT NULL AND last.finished_at IS NULL),
   ('attempts_out_of_step',    j.state <> 'running' AND coalesce(last.attempt, 0) <> j.attempt),
   ('state_unexplained',       j.state <> e.state AND NOT (j.state <> 'running' AND last.attempt IS NOT NULL AND last.finished_at IS NULL)
                               AND NOT (j.state = 'running' AND last.attempt IS DISTINCT FROM j.attempt)
                               AND NOT (j.state = 'done' AND r.receipt_id IS NULL))
 ) AS p(problem, found)
 WHERE p.found
 ORDER BY j.id, p.problem;
