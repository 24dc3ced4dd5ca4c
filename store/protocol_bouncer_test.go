package store_test

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// TestWorkersThroughPgbouncer: several workers share one server connection, which goes
// from one to the other after every transaction; every call works all the same.
func TestWorkersThroughPgbouncer(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil {
			t.Skip("there is no pgbouncer")
		}
	}
	dsn := sandboxtest.Database(t)
	direct := openLedger(t, dsn)
	through := bouncer(t, program, dsn)
	const jobs, workers = 40, 4
	direct.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1::int) n`, jobs)
	ctx := context.Background()
	var all sync.WaitGroup
	for n := range workers {
		db := open(t, through)
		all.Go(func() {
			for {
				token := newToken()
				claimed, err := db.Claim(ctx, store.ClaimRequest{Worker: fmt.Sprint("w", n), Token: token, Kinds: []string{"charge"}, Batch: 3, RecordsIntent: true})
				if err != nil {
					t.Error(err)
					return
				}
				if len(claimed) == 0 {
					return
				}
				for _, job := range claimed {
					if alive, err := db.Heartbeat(ctx, store.Beat{JobID: job.JobID, Token: token}); !alive || err != nil {
						t.Error(alive, err)
					}
					if intent, err := db.BeginEffect(ctx, job.JobID, token); intent.Answer != store.IntentBegin || err != nil {
						t.Error(intent, err)
					}
					if answer, err := db.Complete(ctx, store.Completion{JobID: job.JobID, Token: token, ReceiptID: job.JobID}); answer != "done" || err != nil {
						t.Error(answer, err)
					}
				}
			}
		})
	}
	all.Wait()
	// A claim that found all due rows locked came away empty, so a few may be left.
	db := open(t, through)
	token := newToken()
	claimed, err := db.Claim(ctx, store.ClaimRequest{Worker: "last", Token: token, Kinds: []string{"charge"}, Batch: jobs, RecordsIntent: true})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, job := range claimed {
		ids = append(ids, job.JobID)
	}
	if _, err := db.BeginEffects(ctx, ids, token); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if answer, err := db.Complete(ctx, store.Completion{JobID: id, Token: token, ReceiptID: id}); answer != "done" || err != nil {
			t.Error(answer, err)
		}
	}
	behind := &ledger{t: t, url: through, db: db}
	direct.enqueue(store.NewJob{ID: "straight-1"}, store.NewJob{ID: "straight-2"})
	var last *store.Completion
	for _, want := range []string{"straight-1", "straight-2", ""} {
		token, next := behind.next(last)
		if next.Job.JobID != want || last != nil && next.Completed != "done" {
			t.Errorf("begin_next answered %+v", next)
		}
		last = &store.Completion{JobID: want, Token: token, ReceiptID: want}
	}
	direct.is(fmt.Sprintf("%d %[1]d", jobs+2), `SELECT (SELECT count(*) FROM jobtop.receipts) || ' ' || (SELECT count(*) FROM jobtop.attempts WHERE outcome = 'done' AND effect_at IS NOT NULL)`)
}
