// Package worker is the reference worker: it claims jobs in batches, runs a handler for
// each, gives signs of life meanwhile, and records what became of it, so that at any
// moment a crash leaves a record that tells the truth.
//
// What a handler has to do for that is to call [Job.Begin] before it calls the provider,
// to send the provider the key that Begin returns, and to return the provider's receipt:
//
//	func charge(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
//		key, err := job.Begin(ctx)
//		if err != nil {
//			return worker.Receipt{}, err
//		}
//		id, err := provider.Charge(ctx, key, job.Payload)
//		if errors.Is(err, provider.ErrDeclined) {
//			return worker.Receipt{}, worker.Final(worker.Refused("declined", err))
//		}
//		return worker.Receipt{ID: id}, err // any other error after Begin: the outcome is unknown
//	}
//
// A receipt in hand is never lost: recording it is repeated for as long as the database
// is away, and ends with the job done or, where the lease was lost meanwhile, with a late
// report. Only when the process has to end first does [Run] return it in a
// [LeftBehindError] instead.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"jobtop/store"
)

// Options says what to work on. Only Handlers is required.
type Options struct {
	// DSN is a connection string as psql takes it; empty: the PG* variables.
	DSN string
	// Handlers has the kinds that are claimed, and what is run for each.
	Handlers map[string]Handler
	// Name is who claims, as operators see it; host and process id if empty.
	Name string
	// SourceVersion is the version of the handlers' code, kept with each attempt.
	SourceVersion string

	// Concurrency is how many handlers run at once; 4.
	Concurrency int
	// Batch is how many jobs one claim takes at most; Concurrency. Jobs that have to wait
	// for a free handler are held, with signs of life, and given back on a stop.
	Batch int
	// BeginAtClaim is for handlers that call the provider as soon as they have a job: a job's
	// intent is recorded with its claim, and the next job is claimed with the receipt of the
	// last. That is one call and one commit a job instead of three. Batch counts for nothing.
	// What a crash leaves behind may then have happened, where otherwise it might be certain
	// that it never started. Handlers call Begin all the same, which answers at once.
	BeginAtClaim bool
	// MaxConns bounds the connections, beside the one for heartbeats; Concurrency + 1, at most 8.
	MaxConns int32

	// HeartbeatTimeout is after how long without a sign of life a job counts as stuck; 60 s.
	HeartbeatTimeout time.Duration
	// HeartbeatEvery is the wait between signs of life; a quarter of HeartbeatTimeout.
	HeartbeatEvery time.Duration
	// ProgressTimeout is after how long without progress a job counts as stuck; the job's own if zero.
	ProgressTimeout time.Duration

	// PollMin and PollMax bound the wait, with jitter, while nothing is due; 200 ms and 3 s.
	PollMin, PollMax time.Duration
	// RetryMin and RetryMax bound the wait, with jitter, while the database is away; 200 ms and 5 s.
	RetryMin, RetryMax time.Duration
	// Backoff is the wait before a failed job's next attempt; nil: the schema's.
	Backoff *store.Backoff

	// Grace is how long handlers may go on after a stop, before their contexts are
	// cancelled; 15 s. ReportGrace is how long, after that, what they brought is still
	// tried to be recorded; 10 s. Below zero: none.
	Grace, ReportGrace time.Duration

	// Log gets what an operator of the worker has to know; nil: slog.Default(). It never
	// gets payloads, results or the text of errors that a handler returned.
	Log *slog.Logger
}

// What the context of a handler may be cancelled for; see context.Cause.
var (
	// ErrLeaseLost: the job was taken from this worker. Whatever the handler still returns
	// is kept as a late report. Also returned by Job.Begin.
	ErrLeaseLost = errors.New("the lease on the job is lost")
	// ErrStopping: the worker was asked to stop, and its Grace is over.
	ErrStopping = errors.New("the worker has to stop")
)

// worker is one run.
type worker struct {
	Options
	db, heartDB *store.DB
	slots       chan struct{} // one taken for each handler that runs

	// handlers is the parent of all handlers' contexts; final ends every call to the database.
	handlers, final context.Context

	worked bool // a claim was answered; of drain only

	mu   sync.Mutex
	held map[*Job]struct{}
	left LeftBehindError
	jobs sync.WaitGroup
}

// Run works until ctx is done, then stops cleanly: it claims no more, gives back what has
// not begun, lets handlers finish within Grace, and records what they bring. It returns
// nil then; a *LeftBehindError where something could not be recorded in time; and before
// it has claimed for the first time, the error that keeps it from doing so, unless that
// is one which waiting mends, such as a database that is away.
func Run(ctx context.Context, o Options) error {
	w, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	defer w.heartDB.Close()
	defer w.db.Close()

	background := context.WithoutCancel(ctx)
	handlers, cancelHandlers := context.WithCancelCause(background)
	defer cancelHandlers(nil)
	final, cancelFinal := context.WithCancel(background)
	defer cancelFinal()
	w.handlers, w.final = handlers, final

	busy, end := context.WithCancel(background) // while there is anything left to do
	var helpers sync.WaitGroup
	helpers.Go(func() { w.giveSignsOfLife(busy) })
	helpers.Go(func() {
		select {
		case <-busy.Done():
			return
		case <-ctx.Done():
		}
		if sleep(busy.Done(), w.Grace) {
			cancelHandlers(ErrStopping)
		}
		if sleep(busy.Done(), w.ReportGrace) {
			cancelFinal()
		}
	})

	err = w.drain(ctx)
	w.jobs.Wait()
	end()
	helpers.Wait()
	if err == nil {
		err = w.left.orNil()
	}
	return err
}

func prepare(ctx context.Context, o Options) (*worker, error) {
	if len(o.Handlers) == 0 {
		return nil, errors.New("a worker needs at least one handler")
	}
	if o.Name == "" {
		host, _ := os.Hostname()
		o.Name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	o.Concurrency = cmpOr(o.Concurrency, 4)
	o.Batch = min(cmpOr(o.Batch, o.Concurrency), 1000)
	o.MaxConns = cmpOr(o.MaxConns, int32(min(o.Concurrency+1, 8)))
	o.HeartbeatTimeout = cmpOr(o.HeartbeatTimeout, 60*time.Second)
	o.HeartbeatEvery = cmpOr(o.HeartbeatEvery, o.HeartbeatTimeout/4)
	o.PollMin, o.PollMax = cmpOr(o.PollMin, 200*time.Millisecond), cmpOr(o.PollMax, 3*time.Second)
	o.RetryMin, o.RetryMax = cmpOr(o.RetryMin, 200*time.Millisecond), cmpOr(o.RetryMax, 5*time.Second)
	if o.Grace == 0 {
		o.Grace = 15 * time.Second
	}
	if o.ReportGrace == 0 {
		o.ReportGrace = 10 * time.Second
	}

	db, err := store.Open(context.WithoutCancel(ctx), store.Options{DSN: o.DSN, Application: "jobtop worker", MaxConns: o.MaxConns})
	if err != nil {
		return nil, err
	}
	// Signs of life have a connection of their own: they must not queue behind the work.
	heartDB, err := store.Open(context.WithoutCancel(ctx), store.Options{DSN: o.DSN, Application: "jobtop heartbeat", MaxConns: 1})
	if err != nil {
		db.Close()
		return nil, err
	}
	return &worker{
		Options: o, db: db, heartDB: heartDB,
		slots: make(chan struct{}, o.Concurrency),
		held:  map[*Job]struct{}{},
	}, nil
}

// cmpOr is the value where it says something, else the fallback.
func cmpOr[N int | int32 | time.Duration](value, fallback N) N {
	if value > 0 {
		return value
	}
	return fallback
}

func (w *worker) kinds() []string {
	kinds := make([]string, 0, len(w.Handlers))
	for kind := range w.Handlers {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}
