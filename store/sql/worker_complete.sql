-- Done, with receipts, for a batch in one transaction.
SELECT a.n, a.answer
  FROM unnest(jobtop.complete_all($1::text[], $2::text[]::uuid[], $3::text[], $4::text[]::jsonb[])) WITH ORDINALITY AS a(answer, n);
