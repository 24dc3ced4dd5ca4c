package worker

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"jobtop/store"
)

// drain claims batch after batch and starts handlers, until stop is done.
func (w *worker) drain(stop context.Context) error {
	idle := pause{min: w.PollMin, max: w.PollMax}
	token := newToken()
	for {
		if !w.takeSlot(stop) {
			return nil
		}
		claimed, err := w.claim(stop, token)
		if err != nil || len(claimed) == 0 {
			w.freeSlot()
		}
		switch {
		case errors.Is(err, errNothingClaimed):
			return nil
		case err != nil:
			return err
		case len(claimed) == 0:
			// The token is kept until it has brought something: should a claim that was cut off
			// still land, the next one gets its jobs.
			if !idle.wait(stop) {
				return nil
			}
			continue
		}
		jobs := w.hold(claimed, token)
		token = newToken()
		idle.reset()
		if !w.start(stop, jobs) {
			return nil
		}
	}
}

// errNothingClaimed: the worker stops, and claimed nothing that it knows of.
var errNothingClaimed = errors.New("nothing was claimed")

// claim asks with one token until there is an answer. Once it may have reached the server,
// a stop does not end that: what it took would be held by nobody. Before anything was ever
// claimed, an error that waiting does not mend is returned.
func (w *worker) claim(stop context.Context, token string) ([]store.Claimed, error) {
	retry := pause{min: w.RetryMin, max: w.RetryMax}
	sent := false
	for {
		claimed, err := w.db.Claim(w.final, store.ClaimRequest{
			Worker: w.Name, Token: token, Kinds: w.kinds(), Batch: w.Batch, RecordsIntent: true,
			SourceVersion: w.SourceVersion, HeartbeatTimeout: w.HeartbeatTimeout, ProgressTimeout: w.ProgressTimeout,
		})
		if err == nil {
			w.worked = true
			return claimed, nil
		}
		if !w.worked && (errors.Is(err, store.ErrSchema) || errors.Is(err, store.ErrNoRights)) {
			return nil, err
		}
		sent = sent || !errors.Is(err, store.ErrNotSent)
		w.Log.Warn("no answer to a claim", "worker", w.Name, "error", err)
		if !sent {
			if !retry.wait(stop) {
				return nil, errNothingClaimed
			}
			continue
		}
		if !retry.wait(w.final) {
			w.leaveClaim(token)
			return nil, errNothingClaimed
		}
	}
}

// start runs a handler for each job, as slots become free; the first slot is taken
// already. When the worker has to stop meanwhile, it gives back the rest and reports false.
func (w *worker) start(stop context.Context, jobs []*Job) bool {
	for i, job := range jobs {
		if i > 0 && !w.takeSlot(stop) || stop.Err() != nil {
			if i == 0 {
				w.freeSlot()
			}
			w.giveBack(jobs[i:])
			return false
		}
		w.jobs.Go(func() {
			defer w.freeSlot()
			w.work(job)
		})
	}
	return true
}

// giveBack lets others claim at once what has not begun here. A job at its last attempt
// would be dead by that, so it is worked on after all, while handlers may still run.
func (w *worker) giveBack(jobs []*Job) {
	for _, job := range jobs {
		w.jobs.Go(func() {
			if job.Attempt < job.MaxAttempts {
				w.report(job, outcome{failure: &Failure{
					Effect: store.EffectNotBegun, Category: "given back", Err: errors.New("the worker stopped before it began"),
				}, backoff: &store.Backoff{}})
				return
			}
			if !w.takeSlot(w.handlers) {
				w.leaveRunning(job)
				w.release(job)
				return
			}
			defer w.freeSlot()
			w.work(job)
		})
	}
}

// takeSlot waits for a handler's place; false when ctx is done first.
func (w *worker) takeSlot(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case w.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (w *worker) freeSlot() { <-w.slots }

// newToken makes a lock token: a version 7 UUID, so that tokens sort by time.
func newToken() string { return uuid.Must(uuid.NewV7()).String() }
