package demo

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"jobtop/actions/worker"
	"jobtop/store"
)

// plainWorker is a worker as many are: it records no intents, so that nobody can tell
// from the record whether an attempt that ended badly had called the provider.
type plainWorker struct {
	workerConfig
	db    *store.DB
	kinds []string
	slots sync.WaitGroup
}

func startPlain(ctx context.Context, c workerConfig) (*plainWorker, error) {
	slots := max(2, c.Slots/2)
	db, err := store.Open(ctx, store.Options{DSN: c.DSN, Application: "plain worker", MaxConns: int32(min(slots, 4))})
	if err != nil {
		return nil, err
	}
	p := &plainWorker{workerConfig: c, db: db}
	for _, k := range Kinds {
		if !k.RecordsIntent {
			p.kinds = append(p.kinds, k.Name)
		}
	}
	for range slots {
		p.slots.Go(func() {
			for ctx.Err() == nil {
				if !p.next(ctx) {
					wait(ctx, 400*time.Millisecond)
				}
			}
		})
	}
	return p, nil
}

func (p *plainWorker) stop() {
	p.slots.Wait()
	p.db.Close()
}

// next works on one job, if one is due.
func (p *plainWorker) next(ctx context.Context) bool {
	token := uuid.Must(uuid.NewV7()).String()
	claimed, err := p.db.Claim(ctx, store.ClaimRequest{
		Worker: p.Name, Token: token, Kinds: p.kinds, Batch: 1, SourceVersion: p.Version, HeartbeatTimeout: heartbeatTimeout,
	})
	if err != nil {
		slog.Warn("no answer to a claim", "worker", p.Name, "error", err)
		return false
	}
	for _, job := range claimed {
		p.work(ctx, job, token)
	}
	return len(claimed) > 0
}

func (p *plainWorker) work(ctx context.Context, job store.Claimed, token string) {
	k, number, ok := parseID(job.JobID)
	if !ok {
		p.fail(ctx, job, token, worker.Final(worker.NotBegun("unknown job", errors.New("the id names no job of the demo"))))
		return
	}
	temper := p.Scenario.Temper(k, number, job.Attempt)
	quiet := p.beat(ctx, job.JobID, token)
	defer quiet()
	if err := p.prepare(ctx, k, number, job.Attempt, temper, nil); err != nil {
		p.fail(ctx, job, token, err)
		return
	}
	id, err := client{p.Provider}.act(ctx, job.EffectKey)
	if err != nil {
		p.fail(ctx, job, token, judged(err))
		return
	}
	if temper == Hang {
		quiet()
		wait(ctx, hangFor)
	}
	p.repeat(ctx, "record a receipt", func() error {
		_, err := p.db.Complete(ctx, store.Completion{JobID: job.JobID, Token: token, ReceiptID: id, Result: result(id)})
		return err
	})
}

// beat gives signs of life until it is told to be quiet.
func (p *plainWorker) beat(ctx context.Context, id, token string) (quiet func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		for wait(ctx, heartbeatTimeout/4) {
			if held, err := p.db.Heartbeat(ctx, store.Beat{JobID: id, Token: token}); err == nil && !held {
				return // it works on all the same, as workers do that were never told better
			}
		}
	}()
	return cancel
}

func (p *plainWorker) fail(ctx context.Context, job store.Claimed, token string, err error) {
	failure := store.Failure{JobID: job.JobID, Token: token, Effect: store.EffectUnknown, Retry: true, Category: "error", Detail: err.Error()}
	var said *worker.Failure
	if errors.As(err, &said) {
		failure.Effect, failure.Retry, failure.Category, failure.Detail = said.Effect, !said.Final, said.Category, said.Err.Error()
	}
	p.repeat(ctx, "record a failure", func() error {
		_, err := p.db.Fail(ctx, failure)
		return err
	})
}

// repeat calls until there is an answer.
func (p *plainWorker) repeat(ctx context.Context, doing string, call func() error) {
	for {
		err := call()
		if err == nil || !wait(ctx, time.Second) {
			return
		}
		slog.Warn("could not "+doing, "worker", p.Name, "error", err)
	}
}
