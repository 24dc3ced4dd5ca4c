package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"jobtop/store"
)

// TestFail: each effect, with and without an intent, attempts left and retry.
func TestFail(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for _, c := range []struct {
		effect      string
		begun       bool
		left, retry bool
		state, as   string
		verdict     string
	}{
		{"not_begun", false, true, true, "failed", "not_begun", store.VerdictNeverStarted},
		{"not_begun", false, true, false, "dead", "not_begun", store.VerdictNeverStarted},
		{"not_begun", false, false, true, "dead", "not_begun", store.VerdictNeverStarted},
		{"not_begun", false, false, false, "dead", "not_begun", store.VerdictNeverStarted},
		// After an intent the record cannot back that nothing began.
		{"not_begun", true, true, true, "review", "unknown", store.VerdictMayHaveHappened},
		{"not_begun", true, true, false, "review", "unknown", store.VerdictMayHaveHappened},
		{"not_begun", true, false, true, "review", "unknown", store.VerdictMayHaveHappened},
		{"not_begun", true, false, false, "review", "unknown", store.VerdictMayHaveHappened},
		{"refused", false, true, true, "failed", "refused", store.VerdictDidNotHappen},
		{"refused", false, true, false, "dead", "refused", store.VerdictDidNotHappen},
		{"refused", false, false, true, "dead", "refused", store.VerdictDidNotHappen},
		{"refused", false, false, false, "dead", "refused", store.VerdictDidNotHappen},
		{"refused", true, true, true, "failed", "refused", store.VerdictDidNotHappen},
		{"refused", true, true, false, "dead", "refused", store.VerdictDidNotHappen},
		{"refused", true, false, true, "dead", "refused", store.VerdictDidNotHappen},
		{"refused", true, false, false, "dead", "refused", store.VerdictDidNotHappen},
		// What is unknown is never tried again by itself.
		{"unknown", false, true, true, "review", "unknown", store.VerdictNeverStarted},
		{"unknown", false, true, false, "review", "unknown", store.VerdictNeverStarted},
		{"unknown", false, false, true, "review", "unknown", store.VerdictNeverStarted},
		{"unknown", false, false, false, "review", "unknown", store.VerdictNeverStarted},
		{"unknown", true, true, true, "review", "unknown", store.VerdictMayHaveHappened},
		{"unknown", true, true, false, "review", "unknown", store.VerdictMayHaveHappened},
		{"unknown", true, false, true, "review", "unknown", store.VerdictMayHaveHappened},
		{"unknown", true, false, false, "review", "unknown", store.VerdictMayHaveHappened},
	} {
		name := fmt.Sprintf("%s,begun=%v,left=%v,retry=%v", c.effect, c.begun, c.left, c.retry)
		t.Run(name, func(t *testing.T) {
			l := l.in(t)
			attempts := 5
			if !c.left {
				attempts = 1
			}
			l.enqueue(store.NewJob{ID: name, MaxAttempts: attempts})
			token, ids := l.claim(1)
			if ids != name {
				t.Fatal(ids)
			}
			if c.begun {
				l.begin(name, token)
			}
			if answer := l.fail(name, token, c.effect, c.retry); answer != c.state {
				t.Errorf("answered %s, not %s", answer, c.state)
			}
			l.job(name, c.state, 1, c.verdict)
			l.is(c.as, `SELECT outcome FROM jobtop.attempts WHERE job_id = $1`, name)
			l.is("test", `SELECT error_category FROM jobtop.jobs WHERE id = $1`, name)
			due := fmt.Sprint(c.state != "failed")
			l.is(due, `SELECT run_at <= clock_timestamp() FROM jobtop.jobs WHERE id = $1`, name)
			l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp() + interval '1 day' WHERE id = $1`, name) // out of the others' way
		})
	}
}

// TestSeedsBackoffIsBounded: min(cap, base * 2^attempt), of which the last fifth is
// chance, for every attempt up to 10,000 and beyond.
func TestSeedsBackoffIsBounded(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.is("0", `SELECT count(*) FROM generate_series(0, 10000) n, LATERAL (SELECT extract(epoch FROM jobtop.backoff(n, 3, 300)) AS wait) b
		WHERE NOT b.wait BETWEEN 0.8 * least(300, 3 * 2.0 ^ least(n, 20)) - 0.001 AND least(300, 3 * 2.0 ^ least(n, 20)) + 0.001`)
	l.is("0", `SELECT count(*) FROM (VALUES (2147483647), (-5)) v (n), LATERAL (SELECT extract(epoch FROM jobtop.backoff(n, 3, 300)) AS wait) b
		WHERE NOT b.wait BETWEEN 2.4 AND 300`)
	// Jitter: a thousand jobs that fail together do not come back together.
	l.is("true", `SELECT count(DISTINCT jobtop.backoff(7, 3, 300)) > 900 FROM generate_series(1, 1000)`)

	// The same through fail, at an attempt of ten thousand.
	l.enqueue(store.NewJob{ID: "job", MaxAttempts: 20000})
	l.pastGuard(`UPDATE jobtop.jobs SET attempt = 9999`)
	token, _ := l.claim(1)
	if answer := l.fail("job", token, "not_begun", true); answer != "failed" {
		t.Fatal(answer)
	}
	l.is("true", `SELECT attempt = 10000 AND run_at - state_changed_at BETWEEN interval '239 seconds' AND interval '301 seconds' FROM jobtop.jobs`)
}

// TestFailWithItsOwnBackoff: base and cap are the caller's; base 0 is at once.
func TestFailWithItsOwnBackoff(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for id, c := range map[string]struct {
		backoff  store.Backoff
		min, max time.Duration
	}{
		"at once": {store.Backoff{}, -time.Second, time.Second},
		"capped":  {store.Backoff{Base: time.Hour, Cap: 10 * time.Second}, 8 * time.Second, 11 * time.Second},
		"doubled": {store.Backoff{Base: 10 * time.Second, Cap: time.Hour}, 16 * time.Second, 21 * time.Second},
	} {
		token := l.take(id, false)
		if _, err := l.db.Fail(context.Background(), store.Failure{JobID: id, Token: token, Effect: "refused", Retry: true, Backoff: &c.backoff}); err != nil {
			t.Fatal(err)
		}
		l.is("true", `SELECT extract(epoch FROM run_at - state_changed_at) BETWEEN $2::float8 AND $3::float8 FROM jobtop.jobs WHERE id = $1`,
			id, c.min.Seconds(), c.max.Seconds())
		l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp() + interval '1 day' WHERE id = $1`, id)
	}
	token := l.take("absurd", false)
	for _, b := range []store.Backoff{{Base: -time.Second}, {Base: 1e9 * time.Second}} {
		if _, err := l.db.Fail(context.Background(), store.Failure{JobID: "absurd", Token: token, Effect: "refused", Backoff: &b}); err == nil {
			t.Errorf("a backoff of %v passed", b)
		}
	}
	l.job("absurd", "running", 1, store.VerdictNeverStarted)
}

// TestSeedsBoundedRetryHopWithACounter: a job that always fails goes from failed to
// running and back, one attempt at a time, never back to pending, and ends dead after
// max_attempts.
func TestSeedsBoundedRetryHopWithACounter(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.enqueue(store.NewJob{ID: "job", MaxAttempts: 4})
	for attempt := 1; attempt <= 4; attempt++ {
		token, ids := l.claim(1)
		if ids != "job" {
			t.Fatalf("attempt %d claimed %q", attempt, ids)
		}
		l.job("job", "running", attempt, store.VerdictNeverStarted)
		want := "failed"
		if attempt == 4 {
			want = "dead"
		}
		if answer := l.fail("job", token, "not_begun", true); answer != want {
			t.Fatalf("attempt %d ended %s, not %s", attempt, answer, want)
		}
		// Not before run_at has come.
		if _, ids := l.claim(1); ids != "" {
			t.Fatalf("claimed %q during its backoff", ids)
		}
		l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp()`)
	}
	l.is("pending failed failed failed", `SELECT string_agg(claimed_from, ' ' ORDER BY attempt) FROM jobtop.attempts`)
}

// TestSeedsDeadAfterMaxAttempts: dead is the end for workers; a person may requeue it, and
// then there is an attempt left.
func TestSeedsDeadAfterMaxAttempts(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.enqueue(store.NewJob{ID: "job", MaxAttempts: 1})
	token, _ := l.claim(1)
	l.fail("job", token, "refused", true)
	l.job("job", "dead", 1, store.VerdictDidNotHappen)
	l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp() - interval '1 day'`)
	if _, ids := l.claim(1); ids != "" {
		t.Errorf("claimed %q, which is dead", ids)
	}
	l.act("job", "requeue")
	l.is("pending 2", `SELECT state || ' ' || max_attempts FROM jobtop.jobs`)
	token, _ = l.claim(1)
	if answer := l.complete("job", token, "r"); answer != "done" {
		t.Error(answer)
	}
	l.job("job", "done", 2, store.VerdictHappened)
}

// TestFailStoresAnyText: a failure is recorded whatever its text is.
func TestFailStoresAnyText(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("job", false)
	answer, err := l.db.Fail(context.Background(), store.Failure{JobID: "job", Token: token, Effect: "refused",
		Category: strings.Repeat("é", 300) + "\xff", Detail: "a\x00b\xffc" + strings.Repeat("x", 1<<20)})
	if answer != "dead" || err != nil {
		t.Fatal(answer, err)
	}
	l.is("128 true", `SELECT length(error_category) || ' ' || (length(error_detail) > 1000000) FROM jobtop.jobs`)
}
