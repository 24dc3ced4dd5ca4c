-- Claims due jobs under a token, or reads again what the token holds.
SELECT c.job_id, c.kind, c.attempt, c.max_attempts, c.effect_key, c.payload::text
  FROM jobtop.claim($1::text, $2::text::uuid, $3::text[], $4::bigint::integer, $5::boolean, $6::text,
                    nullif($7::bigint, 0) * interval '1 microsecond', nullif($8::bigint, 0) * interval '1 microsecond') c;
