-- The actions that a filter leaves of those scanned; and the one at which the scan's bound was reached,
-- listed or not, for the next page to go on from.
SELECT (extract(epoch FROM f.at) * 1000000)::bigint, f.action_id::text, f.listed, f.n = @bound::bigint,
       f.verb, f.job_id, f.kind, f.from_state, f.to_state, f.seen_state, f.seen_version, f.version, f.attempt, f.lock_token::text, f.operator,
       f.db_role::text, f.client, f.reason, f.confirmations, f.lookup::text, f.receipt_id,
       CASE WHEN f.delay IS NOT NULL THEN (extract(epoch FROM least(f.delay, interval '100 years')) * 1000000)::bigint END,
       f.outcome, f.refusal, f.at, (extract(epoch FROM statement_timestamp() - f.at) * 1000000)::bigint
  FROM (SELECT s.*, row_number() OVER () AS n,
               (@kind::text = '' OR coalesce(s.kind = @kind::text, false)) AND (@operator::text = '' OR s.operator = @operator::text)
                 AND (@outcome::text = '' OR s.outcome = @outcome::text)
                 AND (@verb::text = '' OR s.verb = @verb::text) AS listed
          FROM scanned s) f
 WHERE f.listed OR f.n = @bound::bigint
 LIMIT @limit::bigint + 1;
