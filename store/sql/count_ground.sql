-- What a count of the done jobs rests on: which server and table it is, its first receipt and the latest retention,
-- all of which stay the same while receipts are only added; and who may be about to add some with a time before
-- now: every transaction that has the table open for writing. On a replica nobody can tell.
SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), 'jobtop.receipts'::regclass::oid),
       (SELECT concat_ws(' ', extract(epoch FROM r.recorded_at), r.job_id) FROM jobtop.receipts r ORDER BY r.recorded_at, r.job_id LIMIT 1),
       (SELECT a.action_id::text
          FROM (SELECT a.action_id, a.verb, a.at FROM jobtop.actions a
                 WHERE a.at >= @since::text::timestamptz ORDER BY a.at DESC, a.action_id DESC LIMIT (SELECT @bound::bigint)) a
         WHERE a.verb = 'retention' ORDER BY a.at DESC, a.action_id DESC LIMIT 1),
       (extract(epoch FROM statement_timestamp()) * 1000000)::bigint,
       CASE WHEN NOT pg_is_in_recovery()
            THEN ARRAY(SELECT DISTINCT l.virtualtransaction FROM pg_catalog.pg_locks l
                        WHERE l.locktype = 'relation' AND l.mode = 'RowExclusiveLock'
                          AND l.relation = 'jobtop.receipts'::regclass
                          AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())) END;
