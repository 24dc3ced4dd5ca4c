package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// crowd makes jobs in every state, more of the done ones than one slice has.
func crowd(ctx context.Context, t *testing.T, pool *pgxpool.Pool, done, pending int) {
	t.Helper()
	forge(ctx, t, pool,
		fmt.Sprintf(`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version)
		               SELECT 'done-' || i, 'k', 'done-' || i, 'done', 1, 3 FROM generate_series(1, %d) i`, done),
		fmt.Sprintf(`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
		               SELECT 'done-' || i, 'k', 'r-' || i, 1, 'w', now() - interval '3 days' + i / 3 * interval '1 ms' FROM generate_series(1, %d) i`, done),
		fmt.Sprintf(`INSERT INTO jobtop.jobs (id, kind, effect_key, state_changed_at)
		               SELECT 'pending-' || i, 'k', 'pending-' || i, now() - interval '1 hour' + i / 3 * interval '1 ms' FROM generate_series(1, %d) i`, pending),
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version, max_attempts)
		   SELECT s || '-' || i, 'k', s || i, s, 1, 3, 5 FROM unnest(ARRAY['failed', 'review', 'dead']) s, generate_series(1, 700) i`,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version, lock_token, worker, claimed_at, heartbeat_at)
		   SELECT 'running-' || i, 'k', 'run' || i, 'running', 1, 2, gen_random_uuid(), 'w', now(), now() FROM generate_series(1, 900) i`)
}

// truth counts the jobs of each state, the way that is right and dear.
func truth(ctx context.Context, t *testing.T, pool *pgxpool.Pool) map[string]int64 {
	t.Helper()
	rows, err := pool.Query(ctx, `SELECT state, count(*) FROM jobtop.jobs GROUP BY state`)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for rows.Next() {
		var s string
		var n int64
		if err := rows.Scan(&s, &n); err != nil {
			t.Fatal(err)
		}
		counts[s] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return counts
}

func sum(c store.ExactCounts) (n int64) {
	for _, s := range c.States {
		n += s.Count.N
	}
	return n
}

// completed takes a running job to its end, as its worker would.
const completed = `SELECT jobtop.complete(c.job_id, c.token, 'late-' || c.job_id) FROM
	(SELECT id AS job_id, lock_token AS token FROM jobtop.jobs WHERE state = 'running' ORDER BY id LIMIT $1) c`

// What a count finds is what its snapshot holds, whatever happens while it goes on.
func TestCountExactlyIsOneSnapshot(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 120_000, 1_000)
	want := truth(ctx, t, pool)
	var told []store.Counting
	counts, err := db.CountExactly(ctx, 0, func(c store.Counting) {
		told = append(told, c)
		// Between any two slices jobs are added, claimed, completed and requeued.
		must(ctx, t, pool, `SELECT jobtop.enqueue('new-' || i || '-' || $1, 'k') FROM generate_series(1, 5) i`, fmt.Sprint(len(told)))
		must(ctx, t, pool, `SELECT count(*) FROM jobtop.claim('w-2', gen_random_uuid(), ARRAY['k'], 20)`)
		must(ctx, t, pool, completed, 10)
		must(ctx, t, pool, `SELECT jobtop.act(gen_random_uuid(), 'requeue', j.id, j.state, j.version, 'alice', 'again', confirmations => ARRAY['may_have_happened', 'not_known'])
		                      FROM (SELECT * FROM jobtop.jobs WHERE state IN ('dead', 'review') ORDER BY id LIMIT 10) j`)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range counts.States {
		if s.Count.N != want[s.State] || s.Count.Precision != store.Exact {
			t.Errorf("%s: %+v, want %d", s.State, s.Count, want[s.State])
		}
		delete(want, s.State)
	}
	if len(want) > 0 {
		t.Errorf("not counted: %v", want)
	}
	if got := truth(ctx, t, pool); got["done"] == 120_000 || got["pending"]+got["running"] == 1_900 {
		t.Errorf("nothing happened meanwhile: %v", got)
	}
	if counts.Counted != sum(counts) || counts.ServerCost <= 0 || counts.Age < counts.ServerCost || db.ServerTime() != 0 {
		t.Errorf("%+v, and reads cost %v", counts, db.ServerTime())
	}
	for i, c := range told {
		if i == 0 && c.Counted != 0 || i > 0 && c.Counted < told[i-1].Counted {
			t.Errorf("told %+v after %+v", c, told[max(0, i-1)])
		}
	}
	if len(told) < 8 {
		t.Errorf("told only %d times", len(told))
	}
}

// The sum of all states is the number of jobs while they go from state to state.
func TestCountExactlyAddsUp(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 60_000, 3_000)
	const all = 60_000 + 3_000 + 3*700 + 900
	churning, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for churning.Err() == nil {
				_, _ = pool.Exec(churning, `SELECT count(*) FROM jobtop.claim('w-3', gen_random_uuid(), ARRAY['k'], 30)`)
				_, _ = pool.Exec(churning, completed, 5)
				_, _ = pool.Exec(churning, `SELECT jobtop.fail(c.id, c.lock_token, 'not_begun', base => 0) FROM
					(SELECT id, lock_token FROM jobtop.jobs WHERE state = 'running' ORDER BY random() LIMIT 10) c`)
			}
		})
	}
	defer workers.Wait()
	defer stop()
	for range 10 {
		counts, err := db.CountExactly(ctx, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(counts); got != all {
			t.Errorf("%d jobs, want %d: %+v", got, all, counts.States)
		}
	}
}

func TestCountExactlyIsStopped(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 120_000, 1_000)
	mine, stop := context.WithCancel(ctx)
	counts, err := db.CountExactly(mine, 0, func(c store.Counting) {
		if c.State == "done" {
			stop()
		}
	})
	var problem *store.Problem
	if !errors.Is(err, context.Canceled) || !errors.As(err, &problem) || !strings.Contains(err.Error(), "the count was stopped after ") || !strings.Contains(err.Error(), "54,000 ") {
		t.Errorf("%v", err)
	}
	for _, s := range counts.States {
		want := store.Count{N: 700, Precision: store.Exact}
		switch s.State {
		case "pending":
			want.N = 1_000
		case "running":
			want.N = 900
		case "done":
			want = store.Count{N: 50_000, Precision: store.Capped}
		}
		if s.Count != want {
			t.Errorf("%s: %+v, want %+v", s.State, s.Count, want)
		}
	}
	nobodyCounts(ctx, t, pool)
	if _, err := db.CountExactly(ctx, 0, nil); err != nil {
		t.Errorf("the next count: %v", err)
	}
}

// nobodyCounts waits until no session of ours is at work or in a transaction.
func nobodyCounts(ctx context.Context, t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	eventually(t, "the server has nothing to do any more", func() bool {
		var busy int
		return pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'jobtop' AND state <> 'idle'`).Scan(&busy) == nil && busy == 0
	})
}

// It is stopped in the middle of a slice too, and on the server at once.
func TestCountExactlyIsStoppedWithinASlice(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	locked(ctx, t, pool, `LOCK TABLE jobtop.receipts`)
	mine, stop := context.WithCancel(ctx)
	result := make(chan error, 1)
	go func() {
		for { // it waits for a second at most, and is to be stopped before
			if _, err := db.CountExactly(mine, 0, nil); !errors.Is(err, store.ErrTimeout) {
				result <- err
				return
			}
		}
	}()
	eventually(t, "the count waits", func() bool {
		var waiting int
		return pool.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'jobtop' AND wait_event_type = 'Lock'`).Scan(&waiting) == nil && waiting == 1
	})
	stop()
	if err := <-result; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "0 jobs were counted") {
		t.Error(err)
	}
	nobodyCounts(ctx, t, pool)
}

// A limit is a time, in which this machine may or may not come as far as it is to come before
// it is stopped: so each part tries until it does.
func TestCountExactlyKeepsToItsLimit(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 60_000, 1_000)
	const open, slice = 1_000 + 900 + 3*700, 50_000
	keeps := func(limit time.Duration, counted int64, counts store.ExactCounts, err error) bool {
		want := fmt.Sprintf("given up at its limit of %s: %d,000 ", limit, counted/1_000)
		return errors.Is(err, store.ErrTimeout) && strings.Contains(err.Error(), want) && counts.Counted == counted
	}
	// Between slices.
	for limit := time.Second; ; limit *= 2 {
		came := false
		counts, err := db.CountExactly(ctx, limit, func(c store.Counting) {
			if came = c.Counted == open+slice; came {
				time.Sleep(limit - c.Elapsed)
			}
		})
		if !came && limit < time.Minute {
			continue
		}
		if !keeps(limit, open+slice, counts, err) {
			t.Errorf("%v, %+v", err, counts)
		}
		break
	}
	// Within one, that waits for a lock: for a second at most, so no limit may leave it more.
	locked(ctx, t, pool, `LOCK TABLE jobtop.receipts`)
	for tries := 0; ; tries++ {
		limit := 400 * time.Millisecond << (tries % 5)
		counts, err := db.CountExactly(ctx, limit, nil)
		if keeps(limit, open, counts, err) {
			break
		}
		if tries == 24 {
			t.Fatalf("%v, %+v", err, counts)
		}
	}
	nobodyCounts(ctx, t, pool)
}

// Whoever may look may count.
func TestCountsByAViewer(t *testing.T) {
	t.Parallel()
	dsn := sandboxtest.Database(t)
	pool, ctx := sandboxtest.Pool(t, dsn), bounded(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k')`)
	db := open(t, with(t, dsn, "options", "-c role=jobtop_viewer"))
	counts, err := db.CountExactly(ctx, 0, nil)
	if err != nil || counts.States[0].Count != exact(1) {
		t.Errorf("%+v, %v", counts, err)
	}
	tally, err := db.TallyDone(ctx, store.DoneTally{}, 10)
	if err != nil || tally.Count != exact(0) || !tally.Known {
		t.Errorf("%+v, %v", tally, err)
	}
	if got, _, err := db.CountOpen(ctx, []string{"pending"}, 10); err != nil || got["pending"] != exact(1) {
		t.Errorf("%+v, %v", got, err)
	}
	worker := open(t, with(t, dsn, "options", "-c role=jobtop_worker"))
	if _, err := worker.CountExactly(ctx, 0, nil); !errors.Is(err, store.ErrNoRights) {
		t.Errorf("a worker counts: %v", err)
	}
}

func TestCountOpen(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	crowd(ctx, t, pool, 10, 2_000)
	got, cost, err := db.CountOpen(ctx, []string{"pending", "running", "dead"}, 1_000)
	if err != nil || got["pending"] != (store.Count{N: 1_000, Precision: store.Capped}) || got["running"] != exact(900) || got["dead"] != exact(700) || len(got) != 3 || cost <= 0 {
		t.Errorf("%v, %v, %v", got, cost, err)
	}
	if got, _, err := db.CountOpen(ctx, []string{"pending"}, 2_000); err != nil || got["pending"] != exact(2_000) {
		t.Errorf("%v, %v", got, err)
	}
}
