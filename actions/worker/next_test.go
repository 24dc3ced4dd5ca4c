package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"jobtop/actions/worker"
	"jobtop/store"
)

// eitherWay runs a test with intents by themselves and with intents at the claim.
func eitherWay(t *testing.T, test func(t *testing.T, atClaim bool)) {
	t.Parallel()
	for name, atClaim := range map[string]bool{"begin by itself": false, "begin at the claim": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, atClaim)
		})
	}
}

// TestBeginAtClaimIsOneTransactionAJob: each job but the first is claimed and begun in the
// transaction that recorded the last one's receipt.
func TestBeginAtClaimIsOneTransactionAJob(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueueMany(20)
	work := &tally{counts: map[string]int{}}
	var alone atomic.Int32
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		if r.count(`SELECT count(*) FROM jobtop.attempts a JOIN jobtop.jobs j ON j.id = a.job_id AND j.effect_at = j.claimed_at
			JOIN jobtop.receipts r ON r.xmin = a.xmin WHERE a.job_id = $1`, job.ID) == 0 {
			alone.Add(1)
		}
		return work.handler(ctx, job)
	})
	o.Concurrency, o.BeginAtClaim = 1, true
	w := run(t, o)
	r.allDone(20)
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if n := alone.Load(); n != 1 {
		t.Errorf("%d jobs were begun without another's receipt", n)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.attempts`); n != 20 || len(work.counts) != 20 {
		t.Errorf("%d attempts, %d effects", n, len(work.counts))
	}
}

// TestBeginAtClaimOutcomes: whatever comes of a job, the record says what is known, and the
// worker goes on with the next.
func TestBeginAtClaimOutcomes(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	// What an earlier attempt reported late keeps the provider from being called again.
	r.enqueue(store.NewJob{ID: "happened"})
	token := newID()
	if _, err := r.db.BeginNext(context.Background(), store.ClaimRequest{Worker: "w0", Token: token, Kinds: []string{"charge"}}, nil); err != nil {
		t.Fatal(err)
	}
	r.act("happened", "hold", "stop")
	if answer, err := r.db.Complete(context.Background(), store.Completion{JobID: "happened", Token: token, ReceiptID: "of the first"}); err != nil || answer != store.AnswerLeaseLost {
		t.Fatal(answer, err)
	}
	r.act("happened", "requeue", "may_have_happened")

	for _, id := range []string{"first", "taken", "unstorable result", "invalid receipt", "before Begin", "after Begin", "last"} {
		r.enqueue(store.NewJob{ID: id, MaxAttempts: 2})
	}
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		if job.ID == "before Begin" && job.Attempt == 1 {
			return worker.Receipt{}, errors.New("no money in the account")
		}
		key, err := job.Begin(ctx)
		switch {
		case err != nil:
			return worker.Receipt{}, err
		case job.ID == "happened":
			t.Error("it was told to call for what has happened")
		case job.ID == "after Begin":
			return worker.Receipt{}, errors.New("no answer")
		case job.ID == "taken":
			return worker.Receipt{ID: "r first"}, nil
		case job.ID == "invalid receipt":
			return worker.Receipt{ID: " "}, nil
		case job.ID == "unstorable result":
			return worker.Receipt{ID: "r " + key, Result: json.RawMessage(`{"a`)}, nil
		}
		return worker.Receipt{ID: "r " + key}, nil
	})
	o.Concurrency, o.BeginAtClaim, o.Backoff = 1, true, &store.Backoff{}
	w := run(t, o)
	r.becomes("last", "done")
	for id, want := range map[string]seen{
		"happened":          {State: "done", Attempt: 2, Verdict: store.VerdictHappened, Receipt: "of the first"},
		"first":             {State: "done", Attempt: 1, Verdict: store.VerdictHappened, Receipt: "r first"},
		"taken":             {State: "review", Attempt: 1, Verdict: store.VerdictMayHaveHappened},
		"unstorable result": {State: "done", Attempt: 1, Verdict: store.VerdictHappened, Receipt: "r unstorable result"},
		"invalid receipt":   {State: "review", Attempt: 1, Verdict: store.VerdictMayHaveHappened},
		"before Begin":      {State: "done", Attempt: 2, Verdict: store.VerdictHappened, Receipt: "r before Begin"},
		"after Begin":       {State: "review", Attempt: 1, Verdict: store.VerdictMayHaveHappened},
	} {
		r.becomes(id, want.State)
		now := r.job(id)
		if now.Attempt != want.Attempt || now.Verdict != want.Verdict || now.Receipt != want.Receipt {
			t.Errorf("%s: %+v, not %+v", id, now, want)
		}
	}
	if n := r.count(`SELECT count(*) FROM jobtop.attempts WHERE job_id = 'before Begin' AND attempt = 1 AND outcome = 'refused' AND effect_at IS NOT NULL`); n != 1 {
		t.Error("a failure before Begin is not recorded as an effect that did not happen")
	}
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
}

// TestBeginAtClaimGivesBackOnAStop: a job that comes with the receipt of the last, when the
// worker has to stop meanwhile, is given back, and its effect did not happen.
func TestBeginAtClaimGivesBackOnAStop(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueueMany(2)
	started, release := make(chan struct{}, 2), make(chan struct{})
	o := r.options(beginsAndWaits(started, release))
	o.Concurrency, o.BeginAtClaim = 1, true
	w := run(t, o)
	arrives(t, "the first runs", started)
	unlock := r.lock("attempts", "SHARE")
	close(release)
	r.oneWaits()
	w.stop()
	unlock()
	if err := w.ended(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.jobs WHERE state = 'done'`); n != 1 {
		t.Errorf("%d jobs are done, not 1", n)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.jobs j, jobtop.evidence(j.id) e WHERE j.state = 'failed' AND j.run_at <= clock_timestamp() AND e.verdict = 'did_not_happen'`); n != 1 {
		t.Errorf("%d jobs are given back, not 1", n)
	}
}

// TestClaimGoesOnAfterItsJobsWereTaken: the answer to a claim is lost, and an operator takes
// its job before the worker asks again. The worker goes on to claim, under a new token.
func TestClaimGoesOnAfterItsJobsWereTaken(t *testing.T) {
	eitherWay(t, claimGoesOnAfterItsJobsWereTaken)
}

func claimGoesOnAfterItsJobsWereTaken(t *testing.T, atClaim bool) {
	r := newRecord(t)
	var lost atomic.Int32
	_, throughProxy := r.proxied(func() bool {
		// Before the answer that brings the job.
		if lost.Load() > 0 || r.count(`SELECT count(*) FROM jobtop.jobs WHERE id = 'taken' AND state = 'running'`) == 0 {
			return false
		}
		r.act("taken", "hold", "stop")
		lost.Add(1)
		return true
	})
	work := &tally{counts: map[string]int{}}
	o := r.options(work.handler)
	o.DSN, o.BeginAtClaim = throughProxy, atClaim
	w := run(t, o)
	r.enqueue(store.NewJob{ID: "taken"})
	r.becomes("taken", "review")
	r.enqueue(store.NewJob{ID: "next"})
	r.becomes("next", "done")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if lost.Load() != 1 || work.counts["taken"] != 0 || work.counts["next"] != 1 {
		t.Errorf("%d answers lost; the provider was called %v", lost.Load(), work.counts)
	}
}
