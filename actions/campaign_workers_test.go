package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
	"jobtop/store/sandbox/faultproxy"
)

// crew are the campaign's workers. Their connections are cut now and then, and each
// call is repeated until it is answered. They complete jobs, fail, and lose some: those
// they fall silent about, and may report on late.
type crew struct {
	c  *campaign
	db *store.DB

	mu     sync.Mutex
	silent []promise // not reported on
	told   []promise // reported on, and answered with done
}

// promise is the receipt that a worker has for a job.
type promise struct {
	store.Completion
	worker string
}

var campaignKinds = []string{"card.charge", "mail.send", "invoice.issue"}

// careless is how workers' connections behave.
func careless(r faultproxy.Request) faultproxy.Fault {
	if !r.Has("jobtop.") {
		return faultproxy.Pass
	}
	switch rand.IntN(40) {
	case 0:
		return faultproxy.ForwardThenCut
	case 1:
		return faultproxy.DropBefore
	}
	return faultproxy.Pass
}

// feed keeps jobs coming.
func (w *crew) feed(ctx context.Context, rng *rand.Rand) {
	for n := 0; ctx.Err() == nil; {
		var open int
		w.c.read([]any{&open}, "SELECT count(*) FROM jobtop.jobs WHERE state <> 'done'")
		for ; open < 60; open++ {
			n++
			job := store.NewJob{ID: fmt.Sprintf("job-%d", n), Kind: campaignKinds[rng.IntN(3)], HeartbeatTimeout: 300 * time.Millisecond, MaxAttempts: 2 + rng.IntN(3)}
			persisting(ctx, func() error { _, err := w.db.Enqueue(ctx, job); return err })
		}
		pause(ctx, 30*time.Millisecond)
	}
}

// persisting repeats a call until it is answered.
func persisting(ctx context.Context, call func() error) {
	for call() != nil && pause(ctx, 10*time.Millisecond) {
	}
}

func (w *crew) work(ctx context.Context, name string, rng *rand.Rand) {
	for ctx.Err() == nil {
		w.c.gate.wait()
		if rng.IntN(3) == 0 {
			w.straight(ctx, name, rng)
			pause(ctx, time.Duration(20+rng.IntN(80))*time.Millisecond)
			continue
		}
		claim := store.ClaimRequest{Worker: name, Token: uuid.NewString(), Kinds: campaignKinds, Batch: 1 + rng.IntN(3), RecordsIntent: rng.IntN(4) > 0}
		var jobs []store.Claimed
		persisting(ctx, func() (err error) { jobs, err = w.db.Claim(ctx, claim); return err })
		for _, job := range jobs {
			w.run(ctx, name, rng, job, claim)
		}
		w.mu.Lock()
		var late promise
		if n := len(w.silent); n > 0 && rng.IntN(4) == 0 {
			late = w.silent[rng.IntN(n)]
		}
		w.mu.Unlock()
		if late.worker != "" {
			w.complete(ctx, late)
		}
		pause(ctx, time.Duration(20+rng.IntN(80))*time.Millisecond)
	}
}

func (w *crew) run(ctx context.Context, name string, rng *rand.Rand, job store.Claimed, claim store.ClaimRequest) {
	receipt := promise{store.Completion{JobID: job.JobID, Token: claim.Token, ReceiptID: fmt.Sprintf("rc-%s-%d", job.JobID, job.Attempt)}, name}
	if claim.RecordsIntent && rng.IntN(4) > 0 {
		var intent store.Intent
		persisting(ctx, func() (err error) { intent, err = w.db.BeginEffect(ctx, job.JobID, claim.Token); return err })
		if intent.Answer == store.IntentHappened {
			receipt.ReceiptID = intent.ReceiptID
			w.complete(ctx, receipt)
			return
		}
	}
	switch what := rng.IntN(8); what {
	case 0, 1:
		w.complete(ctx, receipt)
	case 2, 3, 4:
		effect := []string{store.EffectNotBegun, store.EffectRefused, store.EffectUnknown}[what-2]
		failure := store.Failure{JobID: job.JobID, Token: claim.Token, Effect: effect, Retry: true, Category: "made up", Backoff: &store.Backoff{Base: 50 * time.Millisecond, Cap: time.Second}}
		persisting(ctx, func() error { _, err := w.db.Fail(ctx, failure); return err })
	default:
		w.silence(receipt)
	}
}

// silence lets a job get stuck.
func (w *crew) silence(receipt promise) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = append(w.silent, receipt)
}

// straight goes from job to job, each begun with the receipt of the last.
func (w *crew) straight(ctx context.Context, name string, rng *rand.Rand) {
	var receipt promise
	var last *store.Completion
	for ctx.Err() == nil {
		request := store.ClaimRequest{Worker: name, Token: uuid.NewString(), Kinds: campaignKinds}
		var next store.Next
		persisting(ctx, func() (err error) { next, err = w.db.BeginNext(ctx, request, last); return err })
		if last != nil {
			w.tell(receipt, next.Completed)
		}
		receipt = promise{store.Completion{JobID: next.Job.JobID, Token: request.Token, ReceiptID: fmt.Sprintf("rc-%s-%d", next.Job.JobID, next.Job.Attempt)}, name}
		switch next.Answer {
		case store.IntentBegin:
		case store.IntentHappened:
			receipt.ReceiptID = next.ReceiptID
		default:
			return
		}
		switch rng.IntN(5) {
		case 0:
			w.silence(receipt)
			return
		case 1:
			w.complete(ctx, receipt)
			return
		}
		last = &receipt.Completion
	}
}

func (w *crew) complete(ctx context.Context, p promise) {
	var answer string
	persisting(ctx, func() (err error) { answer, err = w.db.Complete(ctx, p.Completion); return err })
	w.tell(p, answer)
}

// tell takes note of what a worker was told.
func (w *crew) tell(p promise, answer string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if answer == string(Done) {
		w.told = append(w.told, p)
	}
}

// wrong compares what the workers were told with the receipts.
func (w *crew) wrong(receipts map[string]receiptRow) []string {
	var wrong []string
	for _, p := range w.told {
		r, there := receipts[p.JobID]
		if !there || r.receipt != p.ReceiptID || r.actionID != "" || r.by != p.worker {
			wrong = append(wrong, fmt.Sprintf("%s was told that it completed %s with %s; recorded is %+v", p.worker, p.JobID, p.ReceiptID, r))
		}
	}
	return wrong
}
