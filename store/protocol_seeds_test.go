package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"jobtop/store"
)

// TestSeedsLab plays the lab: two tasks, three worker passes. The one that fails before
// any result takes two attempts and has one receipt; the uncertain one has one attempt and
// is still in review; a repeated pass adds nothing.
func TestSeedsLab(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.enqueue(store.NewJob{ID: "retryable"}, store.NewJob{ID: "uncertain"})
	var said []string
	pass := func() {
		t.Helper()
		token := newToken()
		jobs, err := l.db.Claim(ctx, store.ClaimRequest{Worker: "lab", Token: token, Kinds: []string{"charge"}, Batch: 10, RecordsIntent: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			var answer string
			switch {
			case job.JobID == "retryable" && job.Attempt == 1:
				answer, err = l.db.Fail(ctx, store.Failure{JobID: job.JobID, Token: token, Effect: store.EffectNotBegun, Retry: true, Backoff: &store.Backoff{}})
			case job.JobID == "uncertain":
				l.begin(job.JobID, token)
				answer, err = l.db.Fail(ctx, store.Failure{JobID: job.JobID, Token: token, Effect: store.EffectUnknown, Retry: true})
			default:
				l.begin(job.JobID, token)
				answer = l.complete(job.JobID, token, "paper_result")
			}
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, fmt.Sprintf("%s: %s attempt=%d", job.JobID, answer, job.Attempt))
		}
	}
	pass()
	pass()
	record := l.everything()
	pass()
	if want := "retryable: failed attempt=1, uncertain: review attempt=1, retryable: done attempt=2"; strings.Join(said, ", ") != want {
		t.Errorf("the passes said %q", said)
	}
	if l.everything() != record {
		t.Error("a repeated pass added something")
	}
	l.is("retryable 2 done 1, uncertain 1 review 0", `SELECT string_agg(concat_ws(' ', j.id, j.attempt, j.state,
		(SELECT count(*) FROM jobtop.receipts r WHERE r.job_id = j.id)), ', ' ORDER BY j.id) FROM jobtop.jobs j`)
}

// TestSeedsBodyAndStateInOneTransaction: state, receipt, result and the attempt's end are
// there together or not at all; nobody sees one without the other.
func TestSeedsBodyAndStateInOneTransaction(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	token := l.take("job", true)
	const whole = `SELECT concat_ws(' ', j.state, r.receipt_id, r.result, a.outcome) FROM jobtop.jobs j
		JOIN jobtop.attempts a ON a.job_id = j.id LEFT JOIN jobtop.receipts r ON r.job_id = j.id`
	// Rolled back at the last moment: nothing of it remains.
	conn := l.session()
	for _, sql := range []string{"BEGIN", `SELECT jobtop.complete('job', '` + token + `', 'r', '{"body": 1}')`} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	l.is("running", whole) // others see nothing before the commit
	if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	l.is("running", whole)

	// Committed: a reader that looks all the time sees the whole of it at once.
	ids := 30
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1::int) n`, ids)
	token, claimed := l.claim(ids)
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			l.is("0", `SELECT count(*) FROM jobtop.jobs j LEFT JOIN jobtop.receipts r ON r.job_id = j.id LEFT JOIN jobtop.attempts a ON a.job_id = j.id AND a.attempt = j.attempt
				WHERE (j.state = 'done') <> (r.result IS NOT NULL) OR (j.state = 'done') <> (a.outcome IS NOT DISTINCT FROM 'done')`)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for _, id := range strings.Fields(claimed) {
		if _, err := l.db.Complete(ctx, store.Completion{JobID: id, Token: token, ReceiptID: "r" + id, Result: json.RawMessage(`{"body": 1}`)}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	reader.Wait()
}

// TestSeedsRunOnceToken: whoever takes the key runs, the others are told so and their
// skips are recorded, until the token expires.
func TestSeedsRunOnceToken(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	once := func(holder string) bool {
		t.Helper()
		won, err := l.db.Once(ctx, "nightly", time.Hour, holder)
		if err != nil {
			t.Fatal(err)
		}
		return won
	}
	won := make([]bool, 16)
	var callers sync.WaitGroup
	for i := range won {
		callers.Go(func() { won[i] = once(fmt.Sprint("w", i)) })
	}
	callers.Wait()
	winner := ""
	for i, won := range won {
		switch {
		case won && winner != "":
			t.Errorf("w%d won, and so did %s", i, winner)
		case won:
			winner = fmt.Sprint("w", i)
		}
	}
	l.is(winner+" 15", `SELECT holder || ' ' || skips FROM jobtop.once`)
	if !once(winner) {
		t.Error("the winner's repeated call lost")
	}
	if once("") {
		t.Error("nobody in particular won a key that is held")
	}
	l.is("16", `SELECT skips FROM jobtop.once`)

	l.exec(`UPDATE jobtop.once SET expires_at = clock_timestamp() - interval '1 second'`)
	if !once("the next") || once(winner) {
		t.Error("after its expiry the key did not go to the next")
	}
	l.is("the next 17", `SELECT holder || ' ' || skips FROM jobtop.once`)
	if _, err := l.db.Once(ctx, "key", 0, "w"); err == nil {
		t.Error("a token without a time to live passed")
	}
}

// TestSeedsStatusReport: one row tells task, source version, state, attempts, last change,
// error category and receipt, and holds no payload.
func TestSeedsStatusReport(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.enqueue(store.NewJob{ID: "done", Payload: json.RawMessage(`{"card": "4111"}`)}, store.NewJob{ID: "failed"})
	token := newToken()
	if _, err := l.db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"charge"}, Batch: 2, RecordsIntent: true, SourceVersion: "v1.2"}); err != nil {
		t.Fatal(err)
	}
	l.begin("done", token)
	l.complete("done", token, "r-1")
	if _, err := l.db.Fail(ctx, store.Failure{JobID: "failed", Token: token, Effect: "refused", Retry: true, Category: "declined", Detail: "no funds"}); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"done": "done v1.2 1 r-1", "failed": "failed v1.2 1 declined"} {
		job, err := l.db.Row(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{job.State, *job.SourceVersion, fmt.Sprint(job.Attempt)}
		for _, optional := range []*string{job.ErrorCategory, job.Evidence.ReceiptID} {
			if optional != nil {
				got = append(got, *optional)
			}
		}
		if strings.Join(got, " ") != want || job.ID != id || job.StateAge < 0 || job.StateAge > time.Minute {
			t.Errorf("%s shows %q, changed %s ago", id, got, job.StateAge)
		}
		if report := fmt.Sprintf("%+v", job); strings.Contains(report, "4111") {
			t.Errorf("the report holds the payload: %s", report)
		}
	}
}

// TestSeedsStuckByProgress: a heartbeat without progress counts as stuck, a heartbeat
// with progress does not; the same number again is no progress.
func TestSeedsStuckByProgress(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.enqueue(store.NewJob{ID: "job", HeartbeatTimeout: time.Hour, ProgressTimeout: time.Minute})
	token, _ := l.claim(1)
	stuck := func(want string) {
		t.Helper()
		l.is(want, `SELECT jobtop.stuck_for(heartbeat_at, heartbeat_timeout, progress_at, claimed_at, progress_timeout, clock_timestamp()) IS NOT NULL FROM jobtop.jobs`)
	}
	beat := func(progress *int64) {
		t.Helper()
		if alive, err := l.db.Heartbeat(ctx, store.Beat{JobID: "job", Token: token, Progress: progress}); !alive || err != nil {
			t.Fatal(alive, err)
		}
	}
	later := func() {
		l.pastGuard(`UPDATE jobtop.jobs SET claimed_at = claimed_at - interval '2 minutes', progress_at = progress_at - interval '2 minutes'`)
	}
	one, two := int64(1), int64(2)
	stuck("false")
	later()
	beat(nil)
	stuck("true") // it never reported any: counted from the claim
	beat(&one)
	stuck("false")
	later()
	beat(&one)
	stuck("true")
	beat(nil)
	stuck("true")
	beat(&two)
	stuck("false")
	l.is("2", `SELECT progress FROM jobtop.jobs`)
}
