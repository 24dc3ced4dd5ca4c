-- The actions of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.actions (action_id, verb, job_id, kind, from_state, to_state, seen_state, seen_version, version, attempt, lock_token, operator, db_role, client, reason,
  confirmations, lookup, receipt_id, delay, outcome, refusal, at)
SELECT h.action_id, h.verb, h.job_id, h.kind, h.from_state, h.to_state, h.seen_state, h.seen_version, h.version, h.attempt, h.lock_token, h.operator,
       h.db_role, h.client, h.reason, coalesce(h.confirmations, '{}'), h.lookup, h.receipt_id, make_interval(secs => h.delay / 1e9), h.outcome,
       h.refusal, now() - make_interval(secs => h.at / 1e9)
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(action_id uuid, verb text, job_id text, kind text, from_state text, to_state text, seen_state text, seen_version bigint, version bigint, attempt
         integer, lock_token uuid, operator text, db_role text, client text, reason text, confirmations text[], lookup jsonb, receipt_id text, delay
         double precision, outcome text, refusal text, at double precision)
