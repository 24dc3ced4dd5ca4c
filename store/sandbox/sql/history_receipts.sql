-- The receipts of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.receipts (job_id, kind, receipt_id, result, attempt, recorded_by, action_id, recorded_at)
SELECT h.job_id, h.kind, h.receipt_id, h.result, h.attempt, h.recorded_by, h.action_id, now() - make_interval(secs => h.recorded_at / 1e9)
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(job_id text, kind text, receipt_id text, result jsonb, attempt integer, recorded_by text, action_id uuid, recorded_at double precision)
