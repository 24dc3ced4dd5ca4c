-- The newest late reports about one job, their errors cut.
SELECT l.id, l.attempt, l.lock_token::text, l.worker, l.receipt_id, l.effect, l.error_category, left(l.error_detail, @error_limit::integer), l.at,
       (extract(epoch FROM statement_timestamp() - l.at) * 1000000)::bigint
  FROM jobtop.late_reports l
 WHERE l.job_id = @id::text
 ORDER BY l.id DESC LIMIT @limit::bigint;
