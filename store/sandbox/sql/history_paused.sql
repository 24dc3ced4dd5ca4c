-- The pauses of a history. Moments come as nanoseconds ago, durations as nanoseconds.
INSERT INTO jobtop.paused (kind, by, reason, since, until)
SELECT h.kind, h.by, h.reason, now() - make_interval(secs => h.since / 1e9), now() - make_interval(secs => h.until / 1e9)
  FROM jsonb_to_recordset($1::text::jsonb)
    AS h(kind text, by text, reason text, since double precision, until double precision)
