-- Bounds the rest of a worker's transaction, in milliseconds; local to it, so that it also holds through a pooler.
SELECT set_config('statement_timeout', $1::bigint::text, true), set_config('lock_timeout', $2::bigint::text, true),
       set_config('idle_in_transaction_session_timeout', '10s', true);
