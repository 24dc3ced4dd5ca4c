-- The jobs that a table is to hold, one a number: the done ones over the last 30 days, then the open ones of the
-- last hours, four and four of one moment. A common part of the statements that fill the tables.
SELECT n.i, 'job-' || substr(md5(n.i::text), 1, 4) || '-' || n.i AS id,
       (ARRAY['invoice.send', 'invoice.send', 'invoice.send', 'card.charge', 'card.charge', 'mail.send', 'report.build', 'report.send'])[1 + n.i % 8] AS kind,
       CASE WHEN n.i <= @done::bigint THEN 'done'
            WHEN n.i <= @done::bigint + @pending::bigint THEN 'pending'
            WHEN n.i <= @done::bigint + @pending::bigint + @running::bigint THEN 'running'
            WHEN n.i <= @done::bigint + @pending::bigint + @running::bigint + @failed::bigint THEN 'failed'
            WHEN n.i <= @done::bigint + @pending::bigint + @running::bigint + @failed::bigint + @review::bigint THEN 'review'
            ELSE 'dead' END AS state,
       n.i > @done::bigint + @pending::bigint AND n.i <= @done::bigint + @pending::bigint + @stuck::bigint AS stuck,
       CASE WHEN n.i <= @done::bigint THEN @base::text::timestamptz - (@done::bigint - n.i) / 4 * (interval '30 days' / (@done::bigint / 4 + 1))
            ELSE @base::text::timestamptz - (@done::bigint + @pending::bigint + @running::bigint + @failed::bigint + @review::bigint + @dead::bigint - n.i) / 4 * interval '0.2 seconds' END AS at
  FROM (SELECT generate_series(1, @done::bigint + @pending::bigint + @running::bigint + @failed::bigint + @review::bigint + @dead::bigint) AS i) n
