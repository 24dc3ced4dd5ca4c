-- The late reports of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, receipt_id, result, effect, error_category, error_detail, at)
SELECT h.job_id, h.attempt, h.lock_token, h.worker, h.receipt_id, h.result, h.effect, h.error_category, h.error_detail, now() - make_interval(secs => h.at /
       1e9)
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(job_id text, attempt integer, lock_token uuid, worker text, receipt_id text, result jsonb, effect text, error_category text, error_detail text, at
         double precision)
 ORDER BY h.at DESC
