-- Takes a run-once key for a time, in microseconds.
SELECT jobtop.once($1::text, $2::bigint * interval '1 microsecond', $3::text);
