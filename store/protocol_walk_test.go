package store_test

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"jobtop/store"
)

// TestSeedsRandomCallsKeepTheRecordTrue calls the functions of workers and operators at
// random, with right and wrong tokens, receipts and versions, and repeats some. After
// each: only edges were taken, done has no way out, version and attempt only rise, every
// done has its receipt and every other job none, and only a running job has an open attempt.
func TestSeedsRandomCallsKeepTheRecordTrue(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	var round atomic.Int64
	reached := map[string]bool{}
	edges := base.edges()
	calls := func(t *rapid.T) {
		w := &walk{ledger: base, t: t, kind: fmt.Sprintf("kind-%d", round.Add(1)), tokens: []string{newToken()}}
		before := w.look()
		for range rapid.IntRange(10, 40).Draw(t, "steps") {
			call := w.draw()
			answer := call()
			after := w.look()
			w.compare(edges, before, after)
			if rapid.Bool().Draw(t, "repeat") {
				if again := call(); !reflect.DeepEqual(again, answer) {
					t.Fatalf("repeated, %v became %v", answer, again)
				}
				if now := w.look(); !reflect.DeepEqual(now, after) {
					t.Fatalf("the repeated call changed %+v to %+v", after, now)
				}
			}
			before = after
			for _, job := range after {
				reached[job.State] = true
			}
		}
	}
	// A few dozen walks, and how many there are is for the flags to say, may miss a state.
	for range 20 {
		rapid.Check(t, calls)
		if len(reached) == 6 {
			break
		}
	}
	if len(reached) != 6 {
		t.Errorf("the walks came to %v only", reached)
	}
}

// walked is what the record says of a job of a walk.
type walked struct {
	State        string
	Version      int64
	Attempt      int
	Receipt      *string
	OpenAttempts int
	Attempts     int
}

// walk is one sequence of calls on jobs of a kind of its own.
type walk struct {
	*ledger
	t      *rapid.T
	kind   string
	tokens []string
}

func (l *ledger) edges() map[[2]string]bool {
	l.t.Helper()
	rows, err := l.pool.Query(context.Background(), `SELECT from_state, to_state FROM jobtop.edges`)
	if err != nil {
		l.t.Fatal(err)
	}
	edges := map[[2]string]bool{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error { edges[[2]string{from, to}] = true; return nil }); err != nil {
		l.t.Fatal(err)
	}
	return edges
}

func (w *walk) look() map[string]walked {
	rows, err := w.pool.Query(context.Background(), `
		SELECT j.id, j.state, j.version, j.attempt, r.receipt_id, count(a) FILTER (WHERE a.finished_at IS NULL), count(a)
		  FROM jobtop.jobs j LEFT JOIN jobtop.receipts r ON r.job_id = j.id LEFT JOIN jobtop.attempts a ON a.job_id = j.id
		 WHERE j.kind = $1 GROUP BY j.id, r.receipt_id`, w.kind)
	if err != nil {
		w.t.Fatal(err)
	}
	jobs := map[string]walked{}
	var id string
	var j walked
	if _, err := pgx.ForEachRow(rows, []any{&id, &j.State, &j.Version, &j.Attempt, &j.Receipt, &j.OpenAttempts, &j.Attempts}, func() error {
		jobs[id] = j
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return jobs
}

// draw chooses a call with all its arguments, so that it can be repeated as it is.
func (w *walk) draw() func() any {
	ctx := context.Background()
	id := fmt.Sprintf("%s/%d", w.kind, rapid.IntRange(1, 3).Draw(w.t, "job"))
	token := rapid.SampledFrom(w.tokens).Draw(w.t, "token")
	if rapid.IntRange(0, 3).Draw(w.t, "stranger") > 0 {
		// Mostly the one that holds the job, if any does: strangers get nowhere.
		if holder := w.get(`SELECT lock_token FROM jobtop.jobs WHERE id = $1`, id); holder != "" {
			token = holder
		}
	}
	must := func(answer any, err error) any {
		if err != nil {
			w.t.Fatal(err)
		}
		return answer
	}
	switch rapid.SampledFrom([]string{"enqueue", "claim", "claim", "heartbeat", "begin", "begin", "complete", "complete", "fail", "fail", "act", "act", "time"}).Draw(w.t, "call") {
	case "enqueue":
		attempts := rapid.IntRange(1, 3).Draw(w.t, "attempts")
		_ = must(w.db.Enqueue(ctx, store.NewJob{ID: id, Kind: w.kind, MaxAttempts: attempts}))
		return func() any {
			return must(w.db.Enqueue(ctx, store.NewJob{ID: id, Kind: w.kind, MaxAttempts: attempts}))
		}
	case "claim":
		if rapid.Bool().Draw(w.t, "new token") {
			token = newToken()
			w.tokens = append(w.tokens, token)
		}
		intents := rapid.Bool().Draw(w.t, "records intents")
		batch := rapid.IntRange(1, 3).Draw(w.t, "batch")
		return func() any {
			return must(w.db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{w.kind}, Batch: batch, RecordsIntent: intents}))
		}
	case "heartbeat":
		return func() any { return must(w.db.Heartbeat(ctx, store.Beat{JobID: id, Token: token})) }
	case "begin":
		return func() any { return must(w.db.BeginEffect(ctx, id, token)) }
	case "complete":
		receipt := rapid.SampledFrom([]string{id, w.kind, ""}).Draw(w.t, "receipt")
		return func() any {
			return must(w.db.Complete(ctx, store.Completion{JobID: id, Token: token, ReceiptID: receipt}))
		}
	case "fail":
		effect := rapid.SampledFrom([]string{"not_begun", "refused", "unknown"}).Draw(w.t, "effect")
		retry := rapid.Bool().Draw(w.t, "retry")
		return func() any {
			return must(w.db.Fail(ctx, store.Failure{JobID: id, Token: token, Effect: effect, Retry: retry, Backoff: &store.Backoff{Base: time.Hour, Cap: time.Hour}}))
		}
	case "act":
		seen := w.look()[id]
		request := store.ActRequest{
			ActionID: newToken(), JobID: id, SeenState: seen.State, SeenVersion: seen.Version - int64(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(w.t, "behind")),
			Verb:     rapid.SampledFrom([]string{"requeue", "requeue", "done", "dead", "hold"}).Draw(w.t, "verb"),
			Operator: "ada", Reason: "a walk",
			ReceiptID: rapid.SampledFrom([]string{id, w.kind, ""}).Draw(w.t, "receipt"),
		}
		if rapid.Bool().Draw(w.t, "confirmed") {
			request.Confirmations = []string{"may_have_happened", "stop"}
		}
		return func() any {
			answer := must(w.db.Act(ctx, request)).(store.ActAnswer)
			answer.ChangedAgo, answer.Blocker = nil, nil // moves on; only said once
			return answer
		}
	default: // backoffs run out, and running jobs get stuck
		return func() any {
			w.pastGuard(`UPDATE jobtop.jobs SET run_at = run_at - interval '2 hours', heartbeat_at = heartbeat_at - interval '2 hours' WHERE kind = $1`, w.kind)
			return nil
		}
	}
}

// compare checks what one call did.
func (w *walk) compare(edges map[[2]string]bool, before, after map[string]walked) {
	for id, now := range after {
		was, known := before[id]
		if !known {
			was = walked{State: "pending", Version: 1}
		}
		moved := was.State != now.State
		claimed := 0
		if moved && now.State == "running" {
			claimed = 1
		}
		raised := int64(0)
		if moved {
			raised = 1
		}
		switch {
		case was.State == "done" && !reflect.DeepEqual(was, now):
			w.t.Fatalf("%s was done and changed: %+v, %+v", id, was, now)
		case moved && !edges[[2]string{was.State, now.State}]:
			w.t.Fatalf("%s went from %s to %s", id, was.State, now.State)
		case now.Version != was.Version+raised || now.Attempt != was.Attempt+claimed:
			w.t.Fatalf("%s: versions or attempts are off: %+v, %+v", id, was, now)
		case (now.State == "done") != (now.Receipt != nil):
			w.t.Fatalf("%s is %s with the receipt %v", id, now.State, now.Receipt)
		case (now.State == "running") != (now.OpenAttempts == 1) || now.OpenAttempts > 1 || now.Attempts != now.Attempt:
			w.t.Fatalf("%s: the attempts are off: %+v", id, now)
		}
	}
	if len(after) < len(before) {
		w.t.Fatal("a job is gone")
	}
}
