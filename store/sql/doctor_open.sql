-- The jobs that somebody may act on next, and those done last: where a contradiction matters now.
(SELECT j.id FROM jobtop.jobs j WHERE j.state IN ('running', 'failed', 'review', 'dead') AND j.state <> 'done'
  ORDER BY j.state_changed_at DESC LIMIT @limit::bigint)
UNION ALL
(SELECT r.job_id FROM jobtop.receipts r ORDER BY r.recorded_at DESC, r.job_id DESC LIMIT @limit::bigint);
