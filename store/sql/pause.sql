-- Keeps workers from claiming a kind; a duration of 0 is until it is resumed.
SELECT jobtop.pause($1::text::uuid, $2::text, $3::text, $4::text, nullif($5::bigint, 0) * interval '1 microsecond', $6::text);
