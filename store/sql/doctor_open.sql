-- The jobs that somebody may act on next, and those done last: where a contradiction matters now.
(SELECT j.id
   FROM unnest(ARRAY['running', 'failed', 'review', 'dead']) AS s(state)
  CROSS JOIN LATERAL (SELECT j.id, j.state_changed_at FROM jobtop.jobs j
                       WHERE j.state = s.state AND j.state <> 'done'
                       ORDER BY j.state_changed_at DESC LIMIT @limit::bigint) j
  ORDER BY j.state_changed_at DESC LIMIT @limit::bigint)
UNION ALL
(SELECT r.job_id FROM jobtop.receipts r ORDER BY r.recorded_at DESC, r.job_id DESC LIMIT @limit::bigint);
