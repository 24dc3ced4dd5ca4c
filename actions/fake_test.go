package actions

import (
	"context"
	"sync"

	"jobtop/store"
)

// fake stands in front of a database, or of none, and spoils its answers.
type fake struct {
	Database
	mu     sync.Mutex
	onAct  func(next func() (store.ActAnswer, error)) (store.ActAnswer, error)
	onAsk  func(next func() (store.ActAnswer, error)) (store.ActAnswer, error)
	name   string
	line   int64
	acts   []store.ActRequest
	asked  []string // "ACTION VERB JOB OPERATOR"
	noName error
}

func (f *fake) Act(ctx context.Context, r store.ActRequest) (store.ActAnswer, error) {
	f.mu.Lock()
	f.acts = append(f.acts, r)
	f.mu.Unlock()
	next := func() (store.ActAnswer, error) { return f.Database.Act(ctx, r) }
	if f.onAct == nil {
		return next()
	}
	return f.onAct(next)
}

func (f *fake) Settle(ctx context.Context, actionID, verb, jobID, operator, client string) (store.ActAnswer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, actionID+" "+verb+" "+jobID+" "+operator)
	f.mu.Unlock()
	next := func() (store.ActAnswer, error) {
		return f.Database.Settle(ctx, actionID, verb, jobID, operator, client)
	}
	if f.onAsk == nil {
		return next()
	}
	return f.onAsk(next)
}

func (f *fake) Identity(ctx context.Context) (store.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Database != nil && f.name == "" {
		return f.Database.Identity(ctx)
	}
	return store.Identity{Database: f.name, Timeline: f.line}, f.noName
}

func (f *fake) count() (acts, asked int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.acts), len(f.asked)
}

type call = func() (store.ActAnswer, error)

// cutAfter lets a call through and loses its answer; cutBefore loses the call.
func cutAfter(next call) (store.ActAnswer, error) {
	if _, err := next(); err != nil {
		return store.ActAnswer{}, err
	}
	return store.ActAnswer{}, &store.UnknownError{}
}

func cutBefore(call) (store.ActAnswer, error) { return store.ActAnswer{}, &store.UnknownError{} }

// says answers by itself.
func says(outcome string) func(call) (store.ActAnswer, error) {
	return func(call) (store.ActAnswer, error) { return store.ActAnswer{Outcome: outcome}, nil }
}

// first spoils some calls and then does otherwise.
func first(n int, spoil, then func(call) (store.ActAnswer, error)) func(call) (store.ActAnswer, error) {
	return func(next call) (store.ActAnswer, error) {
		if n--; n >= 0 {
			return spoil(next)
		}
		return then(next)
	}
}

func through(next call) (store.ActAnswer, error) { return next() }
