package store_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"jobtop/store"
)

// TestLateReports: what a fenced worker still says changes no job and is kept, once.
func TestLateReports(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()

	// A receipt and a failure under the token that was taken away, each said twice.
	token := l.take("job", true)
	l.stop("job")
	state := l.get(`SELECT to_jsonb(j) FROM jobtop.jobs j WHERE id = 'job'`)
	for range 2 {
		answer, err := l.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: "r", Result: json.RawMessage(`{"a":1}`)})
		if answer != store.AnswerLeaseLost || err != nil {
			t.Error(answer, err)
		}
		answer, err = l.db.Fail(ctx, store.Failure{JobID: "job", Token: token, Effect: "unknown", Category: "timeout", Detail: "no answer"})
		if answer != store.AnswerLeaseLost || err != nil {
			t.Error(answer, err)
		}
	}
	l.is(state, `SELECT to_jsonb(j) FROM jobtop.jobs j WHERE id = 'job'`)
	l.is("1 w r {\"a\": 1}, 1 w unknown timeout no answer",
		`SELECT string_agg(concat_ws(' ', attempt, worker, receipt_id, result, effect, error_category, error_detail), ', ' ORDER BY id) FROM jobtop.late_reports`)
	l.job("job", "review", 1, store.VerdictHappened) // the late receipt is proof

	// Of a job that this database does not know, and under a token that it does not know.
	if answer := l.complete("nowhere", token, "r"); answer != store.AnswerNotFound {
		t.Error(answer)
	}
	if answer := l.fail("nowhere", token, "refused", true); answer != store.AnswerNotFound {
		t.Error(answer)
	}
	stranger := newToken()
	if answer := l.complete("job", stranger, "s"); answer != store.AnswerLeaseLost {
		t.Error(answer)
	}
	l.is("nowhere r, nowhere refused, job s", `SELECT string_agg(concat_ws(' ', job_id, receipt_id, effect), ', ' ORDER BY id) FROM jobtop.late_reports
		WHERE attempt IS NULL`)
}

// TestLateReceiptAfterAnotherAttemptTookOver: the first worker's receipt comes while the
// second one runs; it changes nothing for that one, and nothing is lost.
func TestLateReceiptAfterAnotherAttemptTookOver(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	first := l.take("job", true)
	l.stop("job")
	l.act("job", "requeue", "may_have_happened")
	second, _ := l.claim(1)
	if answer := l.complete("job", first, "r1"); answer != store.AnswerLeaseLost {
		t.Error(answer)
	}
	if alive, err := l.db.Heartbeat(context.Background(), store.Beat{JobID: "job", Token: second}); !alive || err != nil {
		t.Error("the second lost its lease", alive, err)
	}
	l.job("job", "running", 2, store.VerdictHappened)
	l.is("1", `SELECT attempt FROM jobtop.late_reports`)
}

// TestLateRefusalAnswersAnIntent: a definite refusal that came late still says that this
// attempt's effect did not happen.
func TestLateRefusalAnswersAnIntent(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("job", true)
	l.stop("job")
	l.job("job", "review", 1, store.VerdictMayHaveHappened)
	l.fail("job", token, "refused", true)
	l.job("job", "review", 1, store.VerdictDidNotHappen)
}

// TestReceiptTaken: a receipt ID that another job of the kind has sends the job to
// review, and proves nothing for it; one of another kind is no conflict.
func TestReceiptTaken(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.complete("a", l.take("a", true), "r")
	if answer := l.complete("b", l.take("b", true), "r"); answer != "review" {
		t.Error(answer)
	}
	l.job("b", "review", 1, store.VerdictMayHaveHappened)
	l.is(`the receipt 'r' came back, which job 'a' has`, `SELECT error_detail FROM jobtop.jobs WHERE id = 'b'`)
	l.is("1", `SELECT count(*) FROM jobtop.receipts`)

	l.enqueue(store.NewJob{ID: "c", Kind: "mail"})
	token := newToken()
	if _, err := l.db.Claim(context.Background(), store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"mail"}, Batch: 1}); err != nil {
		t.Fatal(err)
	}
	if answer := l.complete("c", token, "r"); answer != "done" {
		t.Error(answer)
	}
}

// TestReceiptTakenInARace: two jobs bring the same receipt ID in the same moment. One is
// done with it, the other goes to review; neither call fails.
func TestReceiptTakenInARace(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for n := range 20 {
		receipt := string(rune('A' + n))
		ids := []string{"a" + receipt, "b" + receipt}
		answers := make([]string, 2)
		tokens := []string{l.take(ids[0], true), l.take(ids[1], true)}
		var calls sync.WaitGroup
		for i := range ids {
			calls.Go(func() { answers[i] = l.complete(ids[i], tokens[i], receipt) })
		}
		calls.Wait()
		if answers[0] == answers[1] || answers[0]+answers[1] != "donereview" && answers[0]+answers[1] != "reviewdone" {
			t.Errorf("the two calls answered %q", answers)
		}
	}
	l.is("20 20", `SELECT count(*) FILTER (WHERE state = 'done') || ' ' || count(*) FILTER (WHERE state = 'review') FROM jobtop.jobs`)
}
