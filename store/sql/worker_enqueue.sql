-- Adds a job. Durations come as microseconds; 0 leaves what the function has as its default.
SELECT jobtop.enqueue($1::text, $2::text, $3::text::jsonb, $4::text,
                      CASE WHEN $5::bigint > 0 THEN clock_timestamp() + $5::bigint * interval '1 microsecond' END,
                      coalesce(nullif($6::bigint, 0)::integer, 5),
                      coalesce(nullif($7::bigint, 0) * interval '1 microsecond', interval '60 seconds'),
                      nullif($8::bigint, 0) * interval '1 microsecond', $9::text);
