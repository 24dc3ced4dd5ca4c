-- What a fenced worker still had to say, of every tenth job in review.
INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, effect, at)
SELECT w.id, 1, md5(w.i::text)::uuid, 'worker-' || w.i % 40, 'unknown', w.at + interval '1 second'
  FROM wanted w WHERE w.i % 10 = 0 AND w.state = 'review';
