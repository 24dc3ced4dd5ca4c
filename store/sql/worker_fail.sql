-- Ends an attempt that did not succeed. Base and cap come as microseconds.
SELECT jobtop.fail($1::text, $2::text::uuid, $3::text, $4::boolean, $5::text, $6::text,
                   $7::bigint / 1000000::double precision, $8::bigint / 1000000::double precision);
