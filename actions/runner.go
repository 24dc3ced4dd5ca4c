package actions

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
)

// Database is what a runner needs of a store.DB.
type Database interface {
	// Act and Settle answer, or fail with a store.UnknownError when it may have
	// happened, or with any other error when it certainly did not.
	Act(ctx context.Context, r store.ActRequest) (store.ActAnswer, error)
	Settle(ctx context.Context, actionID, verb, jobID, operator, client string) (store.ActAnswer, error)
	// Identity says which database this is, and which server answers for it now.
	Identity(ctx context.Context) (store.Identity, error)
}

// DefaultSettleFor is how long a runner tries to find out what became of an act.
const DefaultSettleFor = 30 * time.Second

// Runner carries out orders. It is the one way on which the console, bulk acts and the
// commands reach the database. It is safe for concurrent use; its fields are not to be
// changed once it runs.
type Runner struct {
	DB Database
	// Journal keeps intents for the case that this process is killed; nil keeps none,
	// and every Result says so.
	Journal *Journal
	// Operator and Client are written into each action.
	Operator string
	Client   string
	// SettleFor bounds the search for a lost answer; DefaultSettleFor if zero.
	SettleFor time.Duration

	mu       sync.Mutex
	identity *store.Identity
}

// Run carries out one order. It does not return before it knows what became of it, or
// SettleFor has gone by; then the Outcome is Unknown and the journal keeps the act.
// Once an act is sent, a cancelled ctx only ends the search for a lost answer.
func (r *Runner) Run(ctx context.Context, o Order) Result {
	return r.RunTelling(ctx, o, func() {})
}

// RunTelling is Run, and calls lost when the answer was lost, before it begins to find out.
func (r *Runner) RunTelling(ctx context.Context, o Order, lost func()) Result {
	result := r.carryOut(ctx, o, lost)
	r.conclude(result)
	return result
}

// carryOut is RunTelling, but leaves the act open in the journal.
func (r *Runner) carryOut(ctx context.Context, o Order, lost func()) Result {
	result := Result{Order: o, Operator: r.Operator}
	fail := func(outcome Outcome, err error) Result {
		result.Outcome, result.Err = outcome, err
		return result
	}
	if err := o.valid(); err != nil {
		return fail(Errored, err)
	}
	if err := ValidOperator(r.Operator); err != nil {
		return fail(Errored, err)
	}
	if err := ctx.Err(); err != nil {
		return fail(NotSent, err)
	}
	if o.ActionID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fail(Errored, err)
		}
		o.ActionID = id.String()
	} else if err := uuid.Validate(o.ActionID); err != nil {
		return fail(Errored, invalid("the action id %q is no UUID", o.ActionID))
	}
	o.Reason, o.ReceiptID = strings.TrimSpace(o.Reason), strings.TrimSpace(o.ReceiptID)
	result.Order = o

	identity, err := r.database(ctx)
	if err != nil {
		return fail(Errored, err)
	}
	intent := Intent{ActionID: o.ActionID, Verb: o.Verb, JobID: o.JobID, Operator: r.Operator, Database: identity.Database, Timeline: identity.Timeline}
	result.JournalErr = r.Journal.intend(intent)

	answer, err := r.DB.Act(ctx, store.ActRequest{
		ActionID: o.ActionID, Verb: string(o.Verb), JobID: o.JobID, SeenState: string(o.SeenState), SeenVersion: o.SeenVersion,
		Operator: r.Operator, Reason: o.Reason, ReceiptID: o.ReceiptID, Confirmations: o.Confirmations, Lookup: o.Lookup,
		Client: r.Client, Delay: o.Delay,
	})
	var unknown *store.UnknownError
	switch {
	case err == nil:
		result.Outcome, result.Answer = outcomeOf(answer), answer
	case errors.As(err, &unknown):
		lost()
		result = r.settle(ctx, result, intent, err)
	default:
		result.Outcome, result.Err = Errored, err
	}
	return result
}

// conclude notes in the journal what is known of an act.
func (r *Runner) conclude(result Result) {
	if result.Outcome != Unknown {
		r.Journal.conclude(result.Order.ActionID, result.Outcome)
	}
}

// Settle tries once more to find out what became of an order whose Outcome is Unknown;
// any other Result it returns as it is.
func (r *Runner) Settle(ctx context.Context, result Result) Result {
	if result.Outcome != Unknown {
		return result
	}
	identity, err := r.database(ctx)
	if err != nil {
		result.Err = err
		return result
	}
	o := result.Order
	intent := Intent{ActionID: o.ActionID, Verb: o.Verb, JobID: o.JobID, Operator: result.Operator, Database: identity.Database, Timeline: identity.Timeline}
	result = r.settle(ctx, result, intent, result.Err)
	r.conclude(result)
	return result
}

// settle asks until it is told, or the time is up.
func (r *Runner) settle(ctx context.Context, result Result, intent Intent, lost error) Result {
	limit := r.SettleFor
	if limit == 0 {
		limit = DefaultSettleFor
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	result.Outcome, result.Err = Unknown, lost
	for tries := 0; ; tries++ {
		answer, failover, err := r.askOnce(ctx, intent)
		if err == nil {
			result.Outcome, result.Answer, result.Err = outcomeOf(answer), answer, nil
			result.Settled, result.Failover = true, failover
			return result
		}
		result.Err = err
		if hopeless(err) || !pause(ctx, backoff(tries)) {
			return result
		}
	}
}

// askOnce settles, and then makes sure which server it was that answered. After a
// failover it settles again: the first answer may have been the old primary's last.
func (r *Runner) askOnce(ctx context.Context, intent Intent) (answer store.ActAnswer, failover bool, err error) {
	for range 2 {
		answer, err = r.DB.Settle(ctx, intent.ActionID, string(intent.Verb), intent.JobID, intent.Operator, r.Client)
		if err != nil {
			return answer, failover, err
		}
		identity, err := r.DB.Identity(ctx)
		if err != nil {
			return answer, failover, err
		}
		r.remember(identity)
		if identity.Timeline == intent.Timeline {
			return answer, failover, nil
		}
		intent.Timeline, failover = identity.Timeline, true
	}
	return answer, true, nil
}

// hopeless: no server that is like this will ever settle it.
func hopeless(err error) bool {
	return errors.Is(err, store.ErrNoRights) || errors.Is(err, store.ErrSchema)
}

// backoff is how long to wait after a number of tries: from 100 ms to 3 s, half of it
// left to chance, so that consoles which lost one server do not come back in step.
func backoff(tries int) time.Duration {
	wait := min(100*time.Millisecond<<min(tries, 5), 3*time.Second)
	return wait/2 + rand.N(wait/2)
}

// pause waits, and reports whether it could.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// database says which database the runner talks to. It asks once.
func (r *Runner) database(ctx context.Context) (store.Identity, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.identity == nil {
		identity, err := r.DB.Identity(ctx)
		if err != nil {
			return identity, err
		}
		r.identity = &identity
	}
	return *r.identity, nil
}

func (r *Runner) remember(identity store.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.identity = &identity
}

func outcomeOf(answer store.ActAnswer) Outcome {
	switch answer.Outcome {
	case "applied":
		return Applied
	case "refused":
		return Refused
	}
	return NotHappened
}
