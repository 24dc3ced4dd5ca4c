-- The receipt of every done job.
INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
SELECT w.id, w.kind, 'r_' || w.i, 1, 'worker-' || w.i % 40, w.at FROM wanted w WHERE w.state = 'done';
