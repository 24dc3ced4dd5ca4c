package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"jobtop/store"
)

// Job is one attempt at a job, for its handler.
type Job struct {
	ID          string
	Kind        string
	Attempt     int
	MaxAttempts int
	Payload     json.RawMessage // nil: the job has none

	w      *worker
	token  string
	ctx    context.Context // the handler's
	cancel context.CancelCauseFunc

	progress atomic.Pointer[int64]

	mu      sync.Mutex // held while Begin asks
	intent  intentState
	key     string // the effect key, once the intent is known to stand
	receipt string // from an earlier attempt, once Begin answered so
}

// intentState is what this process knows of the attempt's intent.
type intentState int

const (
	notBegun   intentState = iota
	maybeBegun             // it stands or may stand, but no handler was told to go on
	begun
)

// Begin records that the effect begins, and returns the idempotency key to send to the
// provider with every call. The handler must call it before the provider and must not
// call the provider when it fails; the error is the one to return from the handler. While
// the database is away Begin waits, until ctx is done. A second call returns the same key.
//
// Where an earlier attempt's receipt turned up meanwhile there is nothing left to do; the
// worker then completes the job with that receipt when the handler returns the error.
func (j *Job) Begin(ctx context.Context) (effectKey string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.key != "" {
		j.intent = begun
		return j.key, nil
	}
	ctx, done := either(ctx, j.ctx)
	defer done()
	retry := pause{min: j.w.RetryMin, max: j.w.RetryMax}
	for {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		intent, err := j.w.db.BeginEffect(ctx, j.ID, j.token)
		if err != nil {
			if !errors.Is(err, store.ErrNotSent) {
				j.intent = maybeBegun
			}
			if ctx.Err() == nil {
				j.w.Log.Warn("no answer to an intent", "job", j.ID, "attempt", j.Attempt, "error", err)
			}
			retry.wait(ctx)
			continue
		}
		switch intent.Answer {
		case store.IntentBegin:
			j.intent, j.key = begun, intent.EffectKey
			return j.key, nil
		case store.IntentHappened:
			j.receipt = intent.ReceiptID
			return "", fmt.Errorf("the effect has happened already, with receipt %q", intent.ReceiptID)
		default: // lease_lost, not_found
			j.lose()
			return "", ErrLeaseLost
		}
	}
}

// Progress tells how far the work is, in units of the handler's own; it is sent with the
// next sign of life. Only that the number changes counts.
func (j *Job) Progress(n int64) {
	j.progress.Store(&n)
}

// beat is the next sign of life. It must not wait for a Begin that goes on.
func (j *Job) beat() store.Beat {
	return store.Beat{JobID: j.ID, Token: j.token, Progress: j.progress.Load()}
}

// effectSoFar is what can be said of the effect while the handler runs. It never waits:
// a handler may be inside Begin.
func (j *Job) effectSoFar() string {
	if !j.mu.TryLock() {
		return store.EffectUnknown
	}
	defer j.mu.Unlock()
	if j.intent == notBegun {
		return store.EffectNotBegun
	}
	return store.EffectUnknown
}

func (j *Job) lostLease() bool { return errors.Is(context.Cause(j.ctx), ErrLeaseLost) }

// lose tells the handler that the job is no longer this worker's.
func (j *Job) lose() { j.cancel(ErrLeaseLost) }

// either returns a context that is done when one of two is, with its cause.
func either(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(a)
	stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, func() { stop(); cancel(nil) }
}
