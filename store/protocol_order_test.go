package store_test

import (
	"context"
	"testing"
)

// TestAttemptsEndAfterTheirLastSignOfLife: a heartbeat that comes in while the end of its
// attempt waits for the job's lock is not later than that end.
func TestAttemptsEndAfterTheirLastSignOfLife(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"complete":     `SELECT jobtop.complete('job', $1::uuid, 'r-1')`,
		"complete_all": `SELECT (jobtop.complete_all('{job}', ARRAY[$1::uuid], '{r-1}'))[1]`,
		"fail":         `SELECT jobtop.fail('job', $1::uuid, 'unknown')`,
		"act":          `SELECT (jobtop.act(gen_random_uuid(), 'hold', 'job', 'running', 2, 'ada', 'a test', NULL, '{stop}') IS NOT NULL)::text || left($1::uuid::text, 0)`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			l.exec(`ALTER FUNCTION jobtop.act SET lock_timeout = '10min'`) // it waits as long as the test takes
			ctx := context.Background()
			token := l.take("job", true)
			worker, ender := l.session(), l.session()
			for _, sql := range []string{"BEGIN", "SELECT FROM jobtop.jobs WHERE id = 'job' FOR UPDATE"} {
				if _, err := worker.Exec(ctx, sql); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan error, 1)
			go func() {
				var answer string
				ended <- ender.QueryRow(ctx, end, token).Scan(&answer)
			}()
			eventually(t, "the end waits", func() bool {
				return l.get(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == "1"
			})
			if _, err := worker.Exec(ctx, "SELECT jobtop.heartbeat('job', $1::uuid)", token); err != nil {
				t.Fatal(err)
			}
			if _, err := worker.Exec(ctx, "COMMIT"); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			l.is("true", `SELECT finished_at >= heartbeat_at AND heartbeat_at > claimed_at FROM jobtop.attempts WHERE job_id = 'job'`)
			l.is("true", `SELECT coalesce(bool_and(recorded_at >= a.heartbeat_at), true) FROM jobtop.receipts r JOIN jobtop.attempts a USING (job_id)`)
		})
	}
}
