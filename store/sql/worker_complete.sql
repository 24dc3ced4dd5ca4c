-- Done, with receipts, for jobs in the order of their ids, so that two calls never wait for each other in a ring.
SELECT u.n, jobtop.complete(u.id, u.token, u.receipt_id, u.result)
  FROM (SELECT b.n, b.id, b.token::uuid AS token, b.receipt_id, b.result::jsonb AS result
          FROM ROWS FROM (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[])) WITH ORDINALITY
               AS b(id, token, receipt_id, result, n)
         ORDER BY b.id COLLATE "C", b.n
        OFFSET 0) u;
