-- Bounds the rest of a read's transaction; local to it, so that it also holds through a pooler. What
-- we read is small: compiling it or spreading it over processes would cost more than it saves.
SELECT set_config('statement_timeout', $1::bigint::text, true), set_config('lock_timeout', $2::bigint::text, true),
       set_config('idle_in_transaction_session_timeout', '10s', true),
       set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true);
