package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"

	"jobtop/store"
)

// Handler does the work of one job and returns the provider's receipt, or an error: one
// made by NotBegun, Refused or Unknown, which says what is known of the effect, or any
// other, which counts as NotBegun when Begin has not succeeded and as Unknown once it has.
// A panic counts likewise. With a receipt the job is done, whatever error comes with it.
//
// Errors are stored for people to read, so they must hold nothing secret. When ctx is
// done the handler should return soon; a receipt that it has by then counts all the same.
type Handler func(ctx context.Context, job *Job) (Receipt, error)

// Receipt is the proof that the effect happened.
type Receipt struct {
	// ID is the provider's identifier: 1 to 200 characters, none of them a control
	// character, no outer blanks. No two jobs of a kind may have the same.
	ID string
	// Result is kept with it, where there is something to keep.
	Result json.RawMessage
}

// Failure is an error that says what is known of the effect.
type Failure struct {
	Effect   string // one of the Effect constants of package store
	Final    bool   // another attempt would end the same way
	Category string // a short word to group by
	Err      error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %v", f.Category, f.Err) }
func (f *Failure) Unwrap() error { return f.Err }

// NotBegun says that the provider was never called. After Begin the record cannot back
// that, and the job goes to review; a handler that knows better says Refused.
func NotBegun(category string, err error) error {
	return &Failure{Effect: store.EffectNotBegun, Category: category, Err: err}
}

// Refused says that the provider, or whoever stood before it, definitely did not do it.
func Refused(category string, err error) error {
	return &Failure{Effect: store.EffectRefused, Category: category, Err: err}
}

// Unknown says that the effect may have happened: a person has to look.
func Unknown(category string, err error) error {
	return &Failure{Effect: store.EffectUnknown, Category: category, Err: err}
}

// Final says of an error made by NotBegun or Refused that no other attempt is worth it:
// the job is dead. It changes nothing about an unknown outcome.
func Final(err error) error {
	var f *Failure
	if !errors.As(err, &f) {
		return &Failure{Effect: "", Final: true, Category: "error", Err: err}
	}
	final := *f
	final.Final = true
	return &final
}

// outcome is what there is to record of an attempt: a receipt, or a failure.
type outcome struct {
	receipt Receipt
	failure *Failure
	backoff *store.Backoff // of a failure; nil: the worker's
}

var errReturned = errors.New("the handler has returned")

// handle runs the handler, and sees to it that whatever it does there is an outcome.
func (w *worker) handle(job *Job, result chan<- outcome) {
	var receipt Receipt
	err := errors.New("the handler ended its goroutine")
	category := "panic"
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
		job.cancel(errReturned) // what the handler left running must not begin anything
		result <- job.judge(receipt, err, category)
	}()
	receipt, err = w.Handlers[job.Kind](job.ctx, job)
	category = "error"
}

// judge turns what a handler returned, and what the worker itself knows, into an outcome.
func (j *Job) judge(receipt Receipt, err error, category string) outcome {
	j.mu.Lock()
	defer j.mu.Unlock()
	if receipt.ID != "" {
		if j.intent == notBegun {
			j.w.Log.Error("the handler brought a receipt without Begin: had it crashed, the record would have said that nothing had begun",
				"job", j.ID, "kind", j.Kind)
		}
		return outcome{receipt: receipt}
	}
	if j.receipt != "" {
		return outcome{receipt: Receipt{ID: j.receipt}}
	}
	if err == nil {
		err, category = errors.New("the handler returned neither a receipt nor an error"), "no receipt"
	}
	var said *Failure
	failure := Failure{Category: category, Err: err}
	if errors.As(err, &said) {
		failure = *said
	}
	if failure.Effect == "" || (failure.Effect == store.EffectNotBegun && j.intent == maybeBegun) {
		failure.Effect = j.knownEffect()
	}
	return outcome{failure: &failure}
}

// knownEffect is what the worker can say of the effect by itself. An intent whose answer
// never came may stand in the record, but no handler was told to go on: whoever stands
// before the provider definitely did not do it.
func (j *Job) knownEffect() string {
	switch j.intent {
	case notBegun:
		return store.EffectNotBegun
	case maybeBegun:
		return store.EffectRefused
	default:
		return store.EffectUnknown
	}
}
