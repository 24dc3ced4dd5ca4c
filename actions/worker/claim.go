package worker

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
)

// drain claims batch after batch and starts handlers, until stop is done.
func (w *worker) drain(stop context.Context) error {
	idle := pause{min: w.PollMin, max: w.PollMax}
	token, unanswered := newToken(), time.Time{}
	for {
		if !w.takeSlot(stop) {
			return nil
		}
		claimed, err := w.claim(stop, token, &unanswered)
		if err != nil || len(claimed) == 0 {
			w.freeSlot()
		}
		switch {
		case errors.Is(err, errNothingClaimed):
			return nil
		case err != nil:
			return err
		case len(claimed) == 0:
			// Should a claim that was cut off still land, the next one gets its jobs by the same
			// token. Not for ever: where an operator has taken them, the token brings no others.
			if time.Since(unanswered) > mayStillLand {
				token = newToken()
			}
			if !idle.wait(stop) {
				return nil
			}
			continue
		}
		jobs := w.hold(claimed, token)
		token, unanswered = newToken(), time.Time{}
		idle.reset()
		if !w.start(stop, jobs) {
			return nil
		}
	}
}

// mayStillLand is for how long after a claim was left unanswered its token is kept. The
// server gives up on a Claim before that, and is asked to cancel a BeginNext. Should one
// land later all the same, nobody holds its jobs, and they show as stuck.
const mayStillLand = 15 * time.Second

// errNothingClaimed: the worker stops, and claimed nothing that it knows of.
var errNothingClaimed = errors.New("nothing was claimed")

// claim asks with one token until there is an answer. Once it may have reached the server,
// a stop does not end that: what it took would be held by nobody. Before anything was ever
// claimed, an error that waiting does not mend is returned. unanswered is set to when a
// call was last left without an answer.
func (w *worker) claim(stop context.Context, token string, unanswered *time.Time) ([]store.Claimed, error) {
	retry := pause{min: w.RetryMin, max: w.RetryMax}
	sent := false
	for {
		claimed, err := w.ask(token)
		if err == nil {
			w.worked = true
			return claimed, nil
		}
		if !w.worked && (errors.Is(err, store.ErrSchema) || errors.Is(err, store.ErrNoRights)) {
			return nil, err
		}
		if !errors.Is(err, store.ErrNotSent) {
			sent, *unanswered = true, time.Now()
		}
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

// ask claims once: a batch, or one job together with its intent.
func (w *worker) ask(token string) ([]store.Claimed, error) {
	if !w.BeginAtClaim {
		return w.db.Claim(w.final, w.request(token))
	}
	n, err := w.db.BeginNext(w.final, w.request(token), nil)
	return taken(n), err
}

func (w *worker) request(token string) store.ClaimRequest {
	return store.ClaimRequest{
		Worker: w.Name, Token: token, Kinds: w.kinds(), Batch: w.Batch, RecordsIntent: true,
		SourceVersion: w.SourceVersion, HeartbeatTimeout: w.HeartbeatTimeout, ProgressTimeout: w.ProgressTimeout,
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
			w.workOn(stop, job)
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
					Effect: job.knownEffect(), Category: "given back", Err: errors.New("the worker stopped before it began"),
				}, backoff: &store.Backoff{}})
				return
			}
			if !w.takeSlot(w.handlers) {
				w.leaveRunning(job)
				w.release(job)
				return
			}
			defer w.freeSlot()
			if o, ended := w.work(job); ended {
				w.report(job, o)
			}
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
