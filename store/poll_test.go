package store_test

import (
	"fmt"
	"testing"
	"time"

	"jobtop/store"
)

// near fails unless a duration is there and within a minute of what is wanted.
func near(t *testing.T, what string, got *time.Duration, want time.Duration) {
	t.Helper()
	if got == nil || (*got-want).Abs() > time.Minute {
		t.Errorf("%s is %v, not about %v", what, got, want)
	}
}

func exact(n int64) store.Count { return store.Count{N: n, Precision: store.Exact} }

func state(t *testing.T, p store.Poll, name string) store.StateCount {
	t.Helper()
	for _, s := range p.States {
		if s.State == name {
			return s
		}
	}
	t.Fatalf("no state %s in %+v", name, p.States)
	return store.StateCount{}
}

func TestPollOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	db, _, ctx := fresh(t)
	p, err := db.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, s := range p.States {
		order = append(order, s.State)
		if s.Count != exact(0) || s.OldestAge != nil {
			t.Errorf("%+v", s)
		}
	}
	if got := fmt.Sprint(order); got != "[pending running failed review done dead]" {
		t.Error(got)
	}
	if p.Due != exact(0) || p.Stuck != exact(0) || p.OldestDue != nil || p.OldestStuck != nil || p.NewestHeartbeat != nil || p.SmallestTimeout != nil || p.Paused != nil {
		t.Errorf("%+v", p)
	}
	if p.At.IsZero() || p.ServerCost <= 0 || p.RoundTrip < p.ServerCost {
		t.Errorf("at %v, cost %v, round trip %v", p.At, p.ServerCost, p.RoundTrip)
	}
	if db.ServerTime() != p.ServerCost {
		t.Errorf("the reads have cost %v, not %v", db.ServerTime(), p.ServerCost)
	}
}

// zoo makes a job of every kind that a poll tells apart, each named for what it is.
var zoo = []string{
	`INSERT INTO jobtop.jobs (id, kind, effect_key, run_at, state_changed_at) VALUES
	   ('due', 'a', 'due', now() - interval '2 hours', now() - interval '3 hours'), ('later', 'a', 'later', now() + interval '1 hour', now()),
	   ('never', 'b', 'never', 'infinity', now())`,
	`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version, run_at, error_category, error_detail, state_changed_at, worker) VALUES
	   ('due again', 'b', 'x', 'failed', 1, 3, now() - interval '5 minutes', 'timeout', repeat('é', 1000), now() - interval '10 minutes', 'w-1'),
	   ('backing off', 'b', 'y', 'failed', 1, 3, now() + interval '5 minutes', 'timeout', 'no answer', now(), 'w-1'),
	   ('uncertain', 'b', 'z', 'review', 1, 3, now() - interval '5 hours', 'provider timeout', 'no answer', now() - interval '4 hours', 'w-2'),
	   ('lost', 'b', 'lost', 'dead', 5, 11, now() - interval '5 hours', 'refused', NULL, now() - interval '40 days', NULL),
	   ('paid', 'c', 'paid', 'done', 1, 3, now() - interval '5 hours', NULL, NULL, now() - interval '2 days', 'w-2')`,
	`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version, lock_token, worker, claimed_at, state_changed_at, heartbeat_at, heartbeat_timeout,
	                          progress, progress_at, progress_timeout) VALUES
	   ('alive', 'a', 'alive', 'running', 1, 2, gen_random_uuid(), 'w-1', now() - interval '1 hour', now() - interval '1 hour', now() - interval '2 minutes', '10 minutes', NULL, NULL, NULL),
	   ('silent', 'a', 'silent', 'running', 1, 2, gen_random_uuid(), 'w-2', now() - interval '2 hours', now() - interval '2 hours', now() - interval '90 minutes', '30 minutes', NULL, NULL, NULL),
	   ('idle', 'b', 'idle', 'running', 1, 2, gen_random_uuid(), 'w-2', now() - interval '3 hours', now() - interval '3 hours', now() - interval '2 minutes', '20 minutes', 7, now() - interval '2 hours', '1 hour 30 minutes'),
	   ('never moved', 'b', 'nm', 'running', 1, 2, gen_random_uuid(), 'w-3', now() - interval '1 hour', now() - interval '1 hour', now() - interval '2 minutes', '20 minutes', NULL, NULL, '50 minutes')`,
	`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, effect_at, heartbeat_at, finished_at, outcome, to_state) VALUES
	   ('uncertain', 1, gen_random_uuid(), 'w-2', 'pending', now() - interval '5 hours', true, now() - interval '5 hours', now(), now() - interval '4 hours', 'unknown', 'review'),
	   ('due again', 1, gen_random_uuid(), 'w-1', 'pending', now() - interval '5 hours', true, now() - interval '5 hours', now(), now() - interval '4 hours', 'refused', 'failed'),
	   ('alive', 1, gen_random_uuid(), 'w-1', 'pending', now() - interval '1 hour', false, NULL, NULL, NULL, NULL, NULL)`,
	`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at) VALUES ('paid', 'c', 'r-1', 1, 'w-2', now() - interval '2 days')`,
	`INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, receipt_id) VALUES ('lost', 5, gen_random_uuid(), 'w-9', 'late-1')`,
	`INSERT INTO jobtop.paused (kind, by, reason, since, until) VALUES
	   ('a', 'alice', 'provider down', now() - interval '1 hour', NULL), ('b', 'bob', 'deploy', now() - interval '1 hour', now() + interval '1 hour'),
	   ('c', 'bob', 'deploy', now() - interval '2 hours', now() - interval '1 hour'), ('d', 'bob', 'for good', now(), 'infinity')`,
}

func TestPoll(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, zoo...)
	p, err := db.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		n      int64
		oldest time.Duration
	}{
		"pending": {3, 3 * time.Hour}, "running": {4, 3 * time.Hour}, "failed": {2, 10 * time.Minute},
		"review": {1, 4 * time.Hour}, "done": {1, 48 * time.Hour}, "dead": {1, 40 * 24 * time.Hour},
	} {
		s := state(t, p, name)
		if s.Count != exact(want.n) {
			t.Errorf("%+v, not %d", s, want.n)
		}
		near(t, name, s.OldestAge, want.oldest)
	}
	if p.Due != exact(2) || p.Stuck != exact(3) {
		t.Errorf("due %+v, stuck %+v", p.Due, p.Stuck)
	}
	near(t, "oldest due", p.OldestDue, 2*time.Hour)
	near(t, "worst stuck", p.OldestStuck, time.Hour)
	near(t, "newest heartbeat", p.NewestHeartbeat, 2*time.Minute)
	near(t, "smallest timeout", p.SmallestTimeout, 10*time.Minute)
	near(t, "newest end", p.NewestEnd, 4*time.Hour)
	if !p.SeveralWorkers {
		t.Error("the running jobs are of three workers")
	}
	forge(ctx, t, pool, `INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, finished_at, outcome, to_state)
		VALUES ('lost', 9, gen_random_uuid(), 'w', 'pending', now(), true, now(), 'fenced', 'dead')`, `UPDATE jobtop.jobs SET worker = 'w-1' WHERE state = 'running'`)
	again, err := db.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "newest end, past an operator's", again.NewestEnd, 4*time.Hour)
	if again.SeveralWorkers {
		t.Error("the running jobs are of one worker")
	}
	if len(p.Paused) != 3 || p.Paused[0].Kind != "a" || p.Paused[0].EndsIn != nil || p.Paused[0].By != "alice" || p.Paused[0].Reason != "provider down" {
		t.Fatalf("%+v", p.Paused)
	}
	near(t, "pause", &p.Paused[1].SinceAge, time.Hour)
	near(t, "end of the pause", p.Paused[1].EndsIn, time.Hour)
}

func TestPollWhenTheClockWentBack(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, append(zoo,
		`UPDATE jobtop.jobs SET heartbeat_at = now() + interval '1 hour' WHERE id = 'alive'`,
		`UPDATE jobtop.jobs SET state_changed_at = now() + interval '2 hours' WHERE id = 'lost'`,
		`UPDATE jobtop.jobs SET run_at = '-infinity' WHERE id = 'due'`)...)
	p, err := db.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "newest heartbeat", p.NewestHeartbeat, -time.Hour)
	near(t, "oldest dead", state(t, p, "dead").OldestAge, -2*time.Hour)
	if p.Stuck != exact(3) || *p.OldestDue < 99*365*24*time.Hour {
		t.Errorf("stuck %+v, oldest due %v", p.Stuck, p.OldestDue)
	}
}

func TestPollAtTheBoundOfCounts(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key) SELECT i::text, 'k' || i % 3, i::text FROM generate_series(1, $1::integer) i`, store.CountBound)
	p, err := db.Poll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := state(t, p, "pending").Count; got != exact(store.CountBound) || p.Due != got {
		t.Errorf("pending %+v, due %+v", got, p.Due)
	}
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key) VALUES ('one more', 'k0', 'x')`)
	if p, err = db.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	capped := store.Count{N: store.CountBound, Precision: store.Capped}
	if got := state(t, p, "pending").Count; got != capped || p.Due != capped {
		t.Errorf("pending %+v, due %+v", got, p.Due)
	}

	forge(ctx, t, pool, `UPDATE jobtop.jobs SET state = 'running', attempt = 1, lock_token = gen_random_uuid(), worker = 'w', claimed_at = now() - interval '1 hour',
		heartbeat_at = now() - interval '1 hour', state_changed_at = now() - interval '1 hour'`,
		`UPDATE jobtop.jobs SET heartbeat_at = now(), state_changed_at = now() WHERE id = 'one more'`)
	if p, err = db.Poll(ctx); err != nil {
		t.Fatal(err)
	}
	if p.Stuck != capped || state(t, p, "running").Count != capped {
		t.Errorf("stuck %+v of %+v", p.Stuck, state(t, p, "running"))
	}
	near(t, "newest heartbeat, of the latest claim", p.NewestHeartbeat, 0)
}

func TestPollEstimatesDone(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	count := func() store.Count {
		t.Helper()
		p, err := db.Poll(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return state(t, p, "done").Count
	}
	finish := func(first, last int) {
		t.Helper()
		forge(ctx, t, pool,
			fmt.Sprintf(`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version) SELECT i::text, 'k', i::text, 'done', 1, 3 FROM generate_series(%d, %d) i`, first, last),
			fmt.Sprintf(`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) SELECT i::text, 'k', i::text, 1, 'w' FROM generate_series(%d, %d) i`, first, last))
	}
	finish(1, store.CountBound)
	if got := count(); got != exact(store.CountBound) {
		t.Errorf("%+v", got)
	}
	finish(store.CountBound+1, store.CountBound+1)
	if got := count(); got != (store.Count{N: store.CountBound, Precision: store.Capped}) {
		t.Errorf("without statistics: %+v", got)
	}
	finish(20_001, 60_000)
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key) SELECT 'open' || i, 'k', i::text FROM generate_series(1, 500) i`)
	must(ctx, t, pool, `ANALYZE jobtop.jobs`)
	if got := count(); got != (store.Count{N: 50_001, Precision: store.Estimated}) {
		t.Errorf("with statistics: %+v", got)
	}
}

func TestHeartbeatsStopped(t *testing.T) {
	t.Parallel()
	age := func(d time.Duration) *time.Duration { return &d }
	for name, c := range map[string]struct {
		poll store.Poll
		want bool
	}{
		"nothing runs":                 {store.Poll{}, false},
		"all are silent":               {store.Poll{SeveralWorkers: true, NewestHeartbeat: age(61 * time.Second), SmallestTimeout: age(time.Minute)}, true},
		"one is heard of":              {store.Poll{SeveralWorkers: true, NewestHeartbeat: age(time.Second), SmallestTimeout: age(time.Minute)}, false},
		"one worker alone is no proof": {store.Poll{NewestHeartbeat: age(time.Hour), SmallestTimeout: age(time.Minute)}, false},
		"another worker ended a job":   {store.Poll{SeveralWorkers: true, NewestHeartbeat: age(time.Hour), SmallestTimeout: age(time.Minute), NewestEnd: age(time.Second)}, false},
		"none has for as long":         {store.Poll{SeveralWorkers: true, NewestHeartbeat: age(time.Hour), SmallestTimeout: age(time.Minute), NewestEnd: age(2 * time.Minute)}, true},
	} {
		if got := c.poll.HeartbeatsStopped(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
