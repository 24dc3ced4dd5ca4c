-- Bounds the rest of the transaction; local to it, so that it also holds through a pooler.
SELECT set_config('statement_timeout', $1::bigint::text, true), set_config('idle_in_transaction_session_timeout', '10s', true);
