-- Moves what seed.sql wrote to where it stood then, so that its ages are as they were. What
-- was added since stays.
DO $$
DECLARE
  seeded timestamptz := (SELECT at + interval '0:8:30' FROM jobtop.actions WHERE action_id = 'c0000000-0000-4000-8000-000000000005');
  present timestamptz := clock_timestamp();
  t record;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR t IN SELECT c.table_name AS name,
                  string_agg(format('%1$I = CASE WHEN %1$I BETWEEN %2$L AND %3$L THEN %1$I ELSE %1$I + %4$L END', c.column_name, seeded, present, present - seeded), ', ') AS moves
             FROM information_schema.columns c
            WHERE c.table_schema = 'jobtop' AND c.data_type = 'timestamp with time zone'
              AND c.table_name IN ('jobs', 'attempts', 'receipts', 'late_reports', 'actions', 'paused')
            GROUP BY c.table_name LOOP
    EXECUTE format('UPDATE jobtop.%I SET %s', t.name, t.moves);
  END LOOP;
END $$;
