-- The receipt of one job.
SELECT r.job_id, r.kind, r.receipt_id, r.attempt, r.recorded_by, r.action_id::text, r.recorded_at,
       (extract(epoch FROM statement_timestamp() - r.recorded_at) * 1000000)::bigint
  FROM jobtop.receipts r
 WHERE r.job_id = @id::text;
