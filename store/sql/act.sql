-- One act. Ages leave the database as microseconds.
SELECT a.action_id::text, a.outcome, a.refusal, a.to_state, a.to_version, a.verdict, a.blocker, a.state, a.version, a.attempt, a.receipt_id,
       a.changed_by, a.changed_how, (extract(epoch FROM a.changed_ago) * 1000000)::bigint, a.lock_token::text
  FROM jobtop.act($1::text::uuid, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::text, $9::text[], $10::text::jsonb, $11::text,
                  nullif($12::bigint, 0) * interval '1 microsecond') a;
