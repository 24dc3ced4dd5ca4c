-- What is known about one job beyond its row: when it was made and last changed and by whom, its receipt,
-- and how much history there is. Attempts are numbered without a gap, and there may be thousands.
SELECT j.created_at, j.state_changed_at, c.changed_by, c.changed_how,
       coalesce((SELECT a.attempt FROM jobtop.attempts a WHERE a.job_id = j.id ORDER BY a.attempt DESC LIMIT 1)
                - (SELECT a.attempt FROM jobtop.attempts a WHERE a.job_id = j.id ORDER BY a.attempt LIMIT 1) + 1, 0),
       (SELECT count(*) FROM jobtop.actions a WHERE a.job_id = j.id),
       (SELECT count(*) FROM jobtop.late_reports l WHERE l.job_id = j.id)
  FROM jobtop.jobs j
  LEFT JOIN LATERAL jobtop.last_change(j.id) c ON true
 WHERE j.id = @id::text;
