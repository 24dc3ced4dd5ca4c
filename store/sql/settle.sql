-- What became of an act whose answer was lost.
SELECT * FROM jobtop.settle($1::text::uuid, $2::text, $3::text, $4::text, $5::text);
