-- Lets workers claim a kind again.
SELECT jobtop.resume($1::text::uuid, $2::text, $3::text, $4::text, $5::text);
