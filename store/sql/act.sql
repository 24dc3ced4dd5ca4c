-- One act.
SELECT * FROM jobtop.act($1::text::uuid, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::text, $9::text[], $10::text::jsonb, $11::text,
                         nullif($12::bigint, 0) * interval '1 microsecond');
