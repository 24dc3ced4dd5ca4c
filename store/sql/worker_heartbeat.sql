-- Signs of life for jobs, in the order of their ids, so that two calls never wait for each other in a ring.
SELECT u.n, jobtop.heartbeat(u.id, u.token, u.progress)
  FROM (SELECT b.n, b.id, b.token::uuid AS token, b.progress
          FROM ROWS FROM (unnest($1::text[]), unnest($2::text[]), unnest($3::bigint[])) WITH ORDINALITY AS b(id, token, progress, n)
         ORDER BY b.id COLLATE "C", b.n
        OFFSET 0) u;
