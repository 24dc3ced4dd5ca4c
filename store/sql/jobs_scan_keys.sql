-- Jobs in any state by a whole key: ids, or effect keys (one that is the id is in no index but the
-- primary key), or receipt IDs, those that came too late included.
SELECT j.*
  FROM ((SELECT unnest(@key_ids::text[]) AS id)
        UNION
        (SELECT j.id FROM jobtop.jobs j WHERE j.id = ANY (@key_effects::text[]) AND j.effect_key = j.id)
        UNION
        (SELECT j.id FROM jobtop.jobs j WHERE j.effect_key = ANY (@key_effects::text[]) AND j.effect_key <> j.id LIMIT @bound::bigint)
        UNION
        (SELECT r.job_id FROM jobtop.receipts r WHERE r.receipt_id = ANY (@key_receipts::text[]) LIMIT @bound::bigint)
        UNION
        (SELECT l.job_id FROM jobtop.late_reports l WHERE l.receipt_id = ANY (@key_receipts::text[]) LIMIT @bound::bigint)) key
 CROSS JOIN LATERAL (
   SELECT j.id, j.state, j.state_changed_at AS at, j.kind, j.worker, j.error_category, j.source_version, j.effect_key,
          CASE WHEN j.state = 'running'
               THEN jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, statement_timestamp()) END AS stuck_for
     FROM jobtop.jobs j WHERE j.id = key.id OFFSET 0) j -- one by one, however many
 LIMIT (SELECT @bound::bigint);
