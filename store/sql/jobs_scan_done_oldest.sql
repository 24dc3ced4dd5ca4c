-- Done jobs, oldest first, from a cursor on and no further than a bound: found by their receipts, which were
-- recorded as they became done, since no index of jobs grows with those.
-- It begins at the cursor or at the age asked for, whichever is further on: of two bounds on one side, the
-- index may be entered at the wrong one.
SELECT j.id, j.state, r.recorded_at AS at, r.kind, j.worker, j.error_category, j.source_version, j.effect_key, NULL::interval AS stuck_for
  FROM (SELECT r.job_id, r.kind, r.recorded_at
          FROM jobtop.receipts r
         WHERE (r.recorded_at, r.job_id) > (greatest(@after_at::text::timestamptz, statement_timestamp() - @younger_than::bigint * interval '1 microsecond'),
                CASE WHEN @after_at::text::timestamptz >= statement_timestamp() - @younger_than::bigint * interval '1 microsecond' THEN @after_id::text ELSE '' END)
           AND r.recorded_at < statement_timestamp() - @older_than::bigint * interval '1 microsecond'
         ORDER BY r.recorded_at, r.job_id LIMIT (SELECT @bound::bigint)) r
 CROSS JOIN LATERAL (SELECT j.id, j.state, j.worker, j.error_category, j.source_version, j.effect_key
                       FROM jobtop.jobs j WHERE j.id = r.job_id OFFSET 0) j -- one by one, however many
 ORDER BY r.recorded_at, r.job_id;
