package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// worked makes a queue of which n jobs were worked off while an old snapshot keeps vacuum
// from clearing them away, and returns what ends that snapshot.
func worked(t *testing.T, l *ledger, n int) (end func()) {
	t.Helper()
	ctx := context.Background()
	l.exec(`INSERT INTO jobtop.jobs (id, kind, effect_key, run_at) SELECT 'old' || i, 'charge', 'old' || i, now() - interval '1 hour' + i * interval '1 millisecond'
		FROM generate_series(1, $1::int) i`, n)
	old := l.session()
	tx, err := old.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, "SELECT count(*) FROM jobtop.edges"); err != nil {
		t.Fatal(err)
	}
	l.pastGuard(`UPDATE jobtop.jobs SET state = 'dead' WHERE id LIKE 'old%'`)
	return func() {
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// claimIn claims over one connection and tells which jobs came, and how many blocks of
// tables and indexes it took.
func claimIn(t *testing.T, c *pgx.Conn, kinds []string) (id string, blocks int64) {
	t.Helper()
	ctx := context.Background()
	token := newToken()
	var text string
	if err := c.QueryRow(ctx, `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM jobtop.claim('w', $1::text::uuid, $2::text[])`,
		pgx.QueryExecModeExec, token, kinds).Scan(&text); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	err := c.QueryRow(ctx, `SELECT coalesce(string_agg(job_id, ' '), '') FROM jobtop.attempts WHERE lock_token = $1::text::uuid`, pgx.QueryExecModeExec, token).Scan(&id)
	if err != nil {
		t.Fatal(err)
	}
	return id, plans[0].Plan.Hit + plans[0].Plan.Read
}

// TestClaimBesideOldSnapshot: dead entries at the head of the queue are passed a few
// times, not at every claim; what appears behind the head is still found; and when they
// are gone, claims are in order to the letter again.
func TestClaimBesideOldSnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("works off 100,000 jobs")
	}
	t.Parallel()
	l := newLedger(t)
	end := worked(t, l, 100_000)
	for i := range 60 {
		l.enqueue(store.NewJob{ID: fmt.Sprintf("new-%02d", i)})
	}
	session := l.session()
	for _, kinds := range [][]string{{"charge"}, {"charge", "mail"}} {
		var first, least int64
		for i := range 20 {
			id, blocks := claimIn(t, session, kinds)
			if id == "" {
				t.Fatal("no job came")
			}
			if i == 0 {
				first, least = blocks, blocks
			}
			least = min(least, blocks)
		}
		t.Logf("kinds %v: the first claim took %d blocks, the cheapest %d", kinds, first, least)
		if least > 300 {
			t.Errorf("kinds %v: every claim passed all that is dead: at least %d blocks", kinds, least)
		}
	}

	// Behind the head, by a run_at in the past: its turn comes before the queue is empty.
	l.exec(`SELECT jobtop.enqueue('behind', 'charge', run_at => now() - interval '2 hours')`)
	eventually(t, "a job behind the head is claimed", func() bool {
		l.exec(`SELECT jobtop.enqueue($1, 'charge')`, newToken()) // so that the head always has one
		id, _ := claimIn(t, session, []string{"charge"})
		return id == "behind"
	})

	end()
	l.exec("VACUUM jobtop.jobs")
	eventually(t, "the session looks from the beginning again", func() bool {
		claimIn(t, session, []string{"charge"})
		return hintOf(t, session) == ""
	})
	l.exec(`SELECT jobtop.enqueue('earlier', 'charge', run_at => now() - interval '2 hours')`)
	if id, blocks := claimIn(t, session, []string{"charge"}); id != "earlier" || blocks > 300 {
		t.Errorf("after the snapshot ended, %s came, in %d blocks", id, blocks)
	}
}

// hintOf is what a session remembers of the queue of charges.
func hintOf(t *testing.T, c *pgx.Conn) (hint string) {
	t.Helper()
	err := c.QueryRow(context.Background(), `SELECT coalesce(current_setting('jobtop.queue_' || to_hex(hashtextextended('charge', 7106)), true), '')`).Scan(&hint)
	if err != nil {
		t.Fatal(err)
	}
	return hint
}
