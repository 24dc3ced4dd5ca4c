-- What became of an act whose answer was lost.
SELECT a.action_id::text, a.outcome, a.refusal, a.to_state, a.to_version, a.verdict, a.blocker, a.state, a.version, a.attempt, a.receipt_id,
       a.changed_by, a.changed_how, (extract(epoch FROM a.changed_ago) * 1000000)::bigint, a.lock_token::text
  FROM jobtop.settle($1::text::uuid, $2::text, $3::text, $4::text, $5::text) a;
