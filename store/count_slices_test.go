package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"jobtop/store"
)

// tallied takes steps until the done jobs are known and none of them has to be counted
// anew but those of the last slice.
func tallied(ctx context.Context, t *testing.T, db *store.DB, from store.DoneTally, rows int64) (store.DoneTally, int) {
	t.Helper()
	for steps := 1; steps < 2_000; steps++ {
		next, err := db.TallyDone(ctx, from, rows)
		if err != nil {
			t.Fatal(err)
		}
		if from = next; next.Known && next.Counted >= next.Count.N/rows*rows-rows {
			return next, steps
		}
	}
	t.Fatalf("never known: %+v", from)
	return from, 0
}

func TestTallyOfTheDone(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 120_000, 500)
	first, err := db.TallyDone(ctx, store.DoneTally{}, 10_000)
	if err != nil || first.Known || first.Anew != "" {
		t.Fatalf("%+v, %v", first, err)
	}
	tally, steps := tallied(ctx, t, db, first, 10_000)
	if tally.Count != exact(120_000) || tally.Counted < 110_000 || steps < 11 {
		t.Errorf("%+v after %d steps", tally, steps)
	}
	// What is done now is there at once, and nothing is counted again for it.
	must(ctx, t, pool, completed, 40)
	next, err := db.TallyDone(ctx, tally, 10_000)
	if err != nil || next.Count != exact(120_040) || !next.Known || next.Anew != "" || next.Counted < tally.Counted {
		t.Errorf("%+v, %v", next, err)
	}
}

// A receipt that was recorded long before its transaction ends is not missed: what is
// older than it is not taken for settled while it is open.
func TestTallyWaitsForWhoIsWriting(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 200, 0)
	tally, _ := tallied(ctx, t, db, store.DoneTally{}, 10)
	late, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Exec(ctx, completed, 1); err != nil {
		t.Fatal(err)
	}
	// Its receipt is older than these are.
	must(ctx, t, pool, `SELECT jobtop.complete(id, lock_token, 'early-' || id) FROM (SELECT * FROM jobtop.jobs WHERE state = 'running' ORDER BY id DESC LIMIT 300) j`)
	eventually(t, "they would be old enough to be settled", func() bool {
		var old bool
		return pool.QueryRow(ctx, `SELECT clock_timestamp() - max(recorded_at) > interval '1.2 s' FROM jobtop.receipts`).Scan(&old) == nil && old
	})
	for range 20 {
		if tally, err = db.TallyDone(ctx, tally, 10); err != nil {
			t.Fatal(err)
		}
	}
	if !tally.Known || tally.Count != exact(500) || tally.Counted > 200 {
		t.Errorf("while it is open: %+v", tally)
	}
	if err := late.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if tally, err = db.TallyDone(ctx, tally, 10); err != nil || tally.Count != exact(501) {
		t.Errorf("when it has ended: %+v, %v", tally, err)
	}
	eventually(t, "all is settled", func() bool {
		if tally, err = db.TallyDone(ctx, tally, 10); err != nil {
			t.Fatal(err)
		}
		if tally.Known && tally.Count != exact(501) {
			t.Fatalf("%+v", tally)
		}
		return tally.Counted == 500
	})
}

// Retention takes away what was counted: the tally begins anew, and says why.
func TestTallyBeginsAnewAfterRetention(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 3_000, 10)
	tally, _ := tallied(ctx, t, db, store.DoneTally{}, 100)
	must(ctx, t, pool, `SELECT jobtop.retain('1 day', '1 year', 70)`)
	next, err := db.TallyDone(ctx, tally, 100)
	if err != nil || next.Known || next.Counted != 0 || next.Anew != "retention removed done jobs" {
		t.Errorf("%+v, %v", next, err)
	}
	if next, _ = tallied(ctx, t, db, next, 100); next.Count != exact(2_930) || next.Anew != "" {
		t.Errorf("%+v", next)
	}

	// Also where the first receipt stays, because somebody has it locked.
	tx, err := pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, `SELECT FROM jobtop.receipts ORDER BY recorded_at, job_id LIMIT 3 FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	must(ctx, t, pool, `SELECT jobtop.retain('1 day', '1 year', 30)`)
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if next, err = db.TallyDone(ctx, next, 100); err != nil || next.Anew == "" || next.Known {
		t.Errorf("%+v, %v", next, err)
	}
	if next, _ = tallied(ctx, t, db, next, 100); next.Count != exact(2_900) {
		t.Errorf("%+v", next)
	}
}

// While workers complete jobs and retention removes them a tally is right whenever it
// says that it knows.
func TestTallyIsRightWhileJobsComeAndGo(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 2_000, 3_000)
	churning, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for i := 0; churning.Err() == nil; i++ {
				_, _ = pool.Exec(churning, `SELECT count(*) FROM jobtop.claim('w-4', gen_random_uuid(), ARRAY['k'], 5)`)
				_, _ = pool.Exec(churning, completed, 5)
				if i%40 == 39 {
					_, _ = pool.Exec(churning, `SELECT jobtop.retain('1 day', '1 year', 20)`)
				}
			}
		})
	}
	defer workers.Wait()
	defer stop()
	known, anew := 0, 0
	var tally store.DoneTally
	done := `SELECT count(*) FROM jobtop.receipts`
	for deadline := time.Now().Add(2 * time.Minute); known < 50 || anew < 3; {
		if time.Now().After(deadline) {
			t.Fatalf("known %d times, begun anew %d times", known, anew)
		}
		var before, after int64
		if err := pool.QueryRow(ctx, done).Scan(&before); err != nil {
			t.Fatal(err)
		}
		next, err := db.TallyDone(ctx, tally, 500)
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.QueryRow(ctx, done).Scan(&after); err != nil {
			t.Fatal(err)
		}
		if tally = next; tally.Anew != "" {
			anew++
		}
		// It lies between the two, or as far beyond as retention went meanwhile.
		if tally.Known {
			known++
			if tally.Count.N < min(before, after)-40 || tally.Count.N > max(before, after)+40 {
				t.Fatalf("%d, where %d were done before and %d after", tally.Count.N, before, after)
			}
		}
	}
	t.Logf("known %d times, begun anew %d times", known, anew)
	stop()
	workers.Wait()
	if tally, _ = tallied(ctx, t, db, tally, 50); tally.Count != exact(truth(ctx, t, pool)["done"]) {
		t.Errorf("%+v, and it is %v", tally, truth(ctx, t, pool))
	}
}
