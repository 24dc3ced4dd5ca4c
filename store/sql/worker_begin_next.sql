-- Completes the last job, if there is one, and claims and begins the next; must be sent outside a transaction block, alone.
CALL jobtop.begin_next($1::text, $2::text::uuid, $3::text[], $4::text, $5::text::uuid, $6::text, $7::text::jsonb,
                       $8::text, nullif($9::bigint, 0) * interval '1 microsecond', nullif($10::bigint, 0) * interval '1 microsecond');
