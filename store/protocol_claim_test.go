package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// TestSeedsLockingClaim: rows that somebody else has locked are skipped, not waited for,
// and the claim's own lock keeps every other claim away until it commits.
func TestSeedsLockingClaim(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.enqueue(store.NewJob{ID: "a"}, store.NewJob{ID: "b"}, store.NewJob{ID: "c"})
	claimer := l.session()
	tx, err := claimer.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var id string
	if err := tx.QueryRow(ctx, `SELECT job_id FROM jobtop.claim('first', $1, '{charge}')`, newToken()).Scan(&id); err != nil || id != "a" {
		t.Fatal(id, err)
	}
	if _, ids := l.claim(2); ids != "b c" {
		t.Errorf("beside an open claim of a, the next got %q", ids)
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	// The crash of a claimer is a rollback: its job is there as if fresh.
	l.job("a", "pending", 0, store.VerdictNeverStarted)
	if _, ids := l.claim(2); ids != "a" {
		t.Errorf("after the rollback the next claim got %q", ids)
	}
}

// TestSeedsTokenClaim: the claim stamps its token on the job and on the attempt; every
// later write counts only under it, and a new claim brings a new one.
func TestSeedsTokenClaim(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	first := l.take("job", false)
	l.is(first+" "+first, `SELECT j.lock_token || ' ' || a.lock_token FROM jobtop.jobs j JOIN jobtop.attempts a ON a.job_id = j.id AND a.attempt = j.attempt`)
	if answer := l.fail("job", first, "not_begun", true); answer != "failed" {
		t.Fatal(answer)
	}
	l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp()`)
	second, _ := l.claim(1)
	if alive, err := l.db.Heartbeat(context.Background(), store.Beat{JobID: "job", Token: first}); alive || err != nil {
		t.Error("the old token still gives signs of life", err)
	}
	if intent, err := l.db.BeginEffect(context.Background(), "job", first); intent.Answer != store.IntentLeaseLost || err != nil {
		t.Error("the old token may begin", intent, err)
	}
	if answer := l.complete("job", first, "r1"); answer != store.AnswerLeaseLost {
		t.Error("the old token may complete", answer)
	}
	l.job("job", "running", 2, store.VerdictHappened)
	if answer := l.complete("job", second, "r1"); answer != "done" {
		t.Error(answer)
	}
}

// TestSeedsOptimisticWhere: the transition that a worker makes is bound to state and token.
// One written by hand in the same way changes zero rows when somebody else was faster.
func TestSeedsOptimisticWhere(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("job", true)
	const transition = `WITH changed AS (UPDATE jobtop.jobs SET state = 'review' WHERE id = 'job' AND state = 'running' AND lock_token = $1 RETURNING id)
		SELECT count(*) FROM changed`
	var n int
	ctx := context.Background()
	for i, want := range []int{0, 1, 0} {
		with := token
		if i == 0 {
			with = newToken()
		}
		if err := l.pool.QueryRow(ctx, transition, with).Scan(&n); err != nil || n != want {
			t.Errorf("try %d changed %d rows, not %d: %v", i, n, want, err)
		}
	}
	before := l.get(`SELECT to_jsonb(j) FROM jobtop.jobs j`)
	if answer := l.complete("job", token, "r"); answer != store.AnswerLeaseLost {
		t.Error(answer)
	}
	l.is(before, `SELECT to_jsonb(j) FROM jobtop.jobs j`)
}

// TestSeedsDuplicateDelivery: the same job is sent and its completion reported many times
// over, at once; there is one job, one receipt, one attempt.
func TestSeedsDuplicateDelivery(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	var calls sync.WaitGroup
	added := make([]bool, 8)
	for i := range added {
		calls.Go(func() {
			var err error
			if added[i], err = l.db.Enqueue(ctx, store.NewJob{ID: "job", Kind: "charge"}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	n := 0
	for _, added := range added {
		if added {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d of eight deliveries added the job", n)
	}
	token, _ := l.claim(1)
	l.begin("job", token)
	for range 8 {
		calls.Go(func() {
			if answer := l.complete("job", token, "r"); answer != "done" {
				t.Error(answer)
			}
		})
	}
	calls.Wait()
	l.is("1 1 1 0", `SELECT concat_ws(' ', (SELECT count(*) FROM jobtop.jobs), (SELECT count(*) FROM jobtop.attempts), (SELECT count(*) FROM jobtop.receipts),
		(SELECT count(*) FROM jobtop.late_reports))`)
}

// TestThousandJobsSixteenWorkers: workers that race for a thousand jobs, with batches of
// all sizes, take every job once.
func TestThousandJobsSixteenWorkers(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	const jobs, workers = 1000, 16
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1::int) n`, jobs)
	taken := make([][]string, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			conn, err := pgx.Connect(context.Background(), l.url)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close(context.Background()) }()
			for n := 1; ; n++ {
				rows, err := conn.Query(context.Background(), `SELECT job_id FROM jobtop.claim($1, $2, '{charge}', $3)`, fmt.Sprint("w", w), newToken(), 1+n*w%13)
				if err != nil {
					t.Error(err)
					return
				}
				ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
				if err != nil {
					t.Error(err)
					return
				}
				if len(ids) == 0 {
					return
				}
				taken[w] = append(taken[w], ids...)
			}
		})
	}
	all.Wait()
	by := map[string]int{}
	busy := 0
	for w, ids := range taken {
		if len(ids) > 0 {
			busy++
		}
		for _, id := range ids {
			if other, twice := by[id]; twice {
				t.Errorf("%s was claimed by %d and %d", id, other, w)
			}
			by[id] = w
		}
	}
	if busy < 2 {
		t.Errorf("%d workers got anything: no race", busy)
	}
	// A claim that met only rows that others held locked came away empty, so what is left
	// waits, untouched; nothing is lost.
	l.is(fmt.Sprint(jobs-len(by)), `SELECT count(*) FROM jobtop.jobs WHERE state = 'pending'`)
	l.is(fmt.Sprint(len(by)), `SELECT count(*) FROM jobtop.jobs j JOIN jobtop.attempts a ON a.job_id = j.id AND a.lock_token = j.lock_token WHERE j.state = 'running' AND j.attempt = 1`)
	l.is(fmt.Sprint(len(by)), `SELECT count(*) FROM jobtop.attempts`)
	for _, ids := l.claim(1000); ids != ""; _, ids = l.claim(1000) {
		for _, id := range strings.Fields(ids) {
			by[id] = workers
		}
	}
	if len(by) != jobs {
		t.Errorf("%d jobs were claimed in the end", len(by))
	}
}

// TestClaimTakesTheOldestOfItsKinds: by run_at over all kinds asked for, no others, and
// nothing whose time has not come.
func TestClaimTakesTheOldestOfItsKinds(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.exec(`SELECT jobtop.enqueue('late', 'charge', run_at => now() - interval '1 minute'), jobtop.enqueue('early', 'mail', run_at => now() - interval '1 hour'),
		jobtop.enqueue('future', 'mail', run_at => now() + interval '1 hour'), jobtop.enqueue('other', 'export', run_at => now() - interval '1 day')`)
	jobs := func(batch int) string {
		t.Helper()
		claimed, err := l.db.Claim(context.Background(), store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"charge", "mail", "mail"}, Batch: batch})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range claimed {
			ids = append(ids, c.JobID)
		}
		return strings.Join(ids, " ")
	}
	if ids := jobs(1); ids != "early" {
		t.Errorf("first %q", ids)
	}
	if ids := jobs(5); ids != "late" {
		t.Errorf("then %q", ids)
	}
	for _, bad := range []store.ClaimRequest{
		{Token: newToken(), Kinds: []string{"charge"}, Batch: 1}, {Worker: "w", Token: newToken(), Batch: 1},
		{Worker: "w", Token: newToken(), Kinds: []string{"charge"}}, {Worker: "w", Token: newToken(), Kinds: []string{"charge"}, Batch: 1001},
		{Worker: "w", Token: "no UUID", Kinds: []string{"charge"}, Batch: 1},
	} {
		if _, err := l.db.Claim(context.Background(), bad); err == nil {
			t.Errorf("%+v passed", bad)
		}
	}
}

// TestPauseAndResume: a paused kind is not claimed, until it is resumed or its time is up;
// what runs, runs on; other kinds are claimed.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("running", false)
	l.enqueue(store.NewJob{ID: "waiting"}, store.NewJob{ID: "mail", Kind: "mail"})
	claim := func() string {
		t.Helper()
		jobs, err := l.db.Claim(context.Background(), store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"charge", "mail"}, Batch: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) == 0 {
			return ""
		}
		return jobs[0].JobID
	}
	pause := newToken()
	for range 2 {
		l.is("true", `SELECT jobtop.pause($1, 'charge', 'ada', 'the provider is down')`, pause)
	}
	if id := claim(); id != "mail" {
		t.Errorf("claimed %q", id)
	}
	if id := claim(); id != "" {
		t.Errorf("claimed %q, which is paused", id)
	}
	if answer := l.complete("running", token, "r"); answer != "done" {
		t.Error(answer)
	}
	resume := newToken()
	for range 2 {
		l.is("true", `SELECT jobtop.resume($1, 'charge', 'ada', 'it is back')`, resume)
	}
	if id := claim(); id != "waiting" {
		t.Errorf("claimed %q", id)
	}
	l.is("false", `SELECT jobtop.resume($1, 'charge', 'ada', 'again')`, newToken())

	// With a limit: it ends by itself.
	l.enqueue(store.NewJob{ID: "next"})
	l.is("true", `SELECT jobtop.pause($1, 'charge', 'ada', 'for an hour', interval '1 hour')`, newToken())
	if id := claim(); id != "" {
		t.Errorf("claimed %q, which is paused", id)
	}
	l.exec(`UPDATE jobtop.paused SET until = clock_timestamp() - interval '1 second'`)
	if id := claim(); id != "next" {
		t.Errorf("claimed %q", id)
	}
	l.is("pause ada applied, resume ada applied, resume ada refused, pause ada applied",
		`SELECT string_agg(concat_ws(' ', verb, operator, outcome), ', ' ORDER BY at) FROM jobtop.actions`)
}
