package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"jobtop/actions/worker"
	"jobtop/store"
)

// logTo sends each line of a log, and drops lines that nobody takes.
func logTo(lines chan<- string) *slog.Logger {
	return slog.New(slog.NewTextHandler(lineWriter(lines), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type lineWriter chan<- string

func (w lineWriter) Write(p []byte) (int, error) {
	select {
	case w <- string(p):
	default:
	}
	return len(p), nil
}

// beginsAndWaits is a handler that begins, tells that it has, and waits to be released.
func beginsAndWaits(started chan<- struct{}, release <-chan struct{}) worker.Handler {
	return func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		key, err := job.Begin(ctx)
		started <- struct{}{}
		<-release
		return worker.Receipt{ID: key}, err
	}
}

// TestStopFinishesOrGivesBack: a worker that holds five jobs and runs two is asked to
// stop. It finishes the two, and gives back the others, which can be claimed at once.
func TestStopFinishesOrGivesBack(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueueMany(5)
	started, release := make(chan struct{}, 5), make(chan struct{})
	o := r.options(beginsAndWaits(started, release))
	o.Concurrency, o.Batch, o.Grace = 2, 5, patience
	w := run(t, o)
	arrives(t, "the first runs", started)
	arrives(t, "the second runs", started)
	w.stop()
	eventually(t, "three are given back", func() bool {
		return r.count(`SELECT count(*) FROM jobtop.jobs WHERE state = 'failed' AND run_at <= clock_timestamp()`) == 3
	})
	close(release)
	if err := w.ended(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.jobs WHERE state = 'done'`); n != 2 {
		t.Errorf("%d jobs are done, not 2", n)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.attempts WHERE outcome = 'not_begun'`); n != 3 {
		t.Errorf("%d attempts ended before they began, not 3", n)
	}
	work := &tally{counts: map[string]int{}}
	second := run(t, r.options(work.handler))
	r.allDone(5)
	if err := second.stopped(); err != nil {
		t.Error(err)
	}
	if len(work.counts) != 3 {
		t.Errorf("the second worker did %v", work.counts)
	}
}

// TestStopDoesNotKillALastAttempt: giving back a job at its last attempt would make it
// dead, so it is worked on after all.
func TestStopDoesNotKillALastAttempt(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "a", MaxAttempts: 1}, store.NewJob{ID: "b", MaxAttempts: 1})
	started, release := make(chan struct{}, 2), make(chan struct{})
	o := r.options(beginsAndWaits(started, release))
	o.Concurrency, o.Batch = 1, 2
	w := run(t, o)
	arrives(t, "one runs", started)
	w.stop()
	close(release)
	if err := w.ended(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	if n := r.count(`SELECT count(*) FROM jobtop.jobs WHERE state = 'done'`); n != 2 {
		t.Errorf("%d jobs are done, not 2", n)
	}
}

// TestStopEndsHandlersAfterGrace: a handler that heeds its context ends with it, and its
// outcome is recorded; one that does not is named in the error.
func TestStopEndsHandlersAfterGrace(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "heeds"}, store.NewJob{ID: "ignores"})
	begun, release := make(chan struct{}, 2), make(chan struct{})
	defer close(release)
	cause := make(chan error, 1)
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		if _, err := job.Begin(ctx); err != nil {
			return worker.Receipt{}, err
		}
		begun <- struct{}{}
		if job.ID == "ignores" {
			<-release
			return worker.Receipt{}, nil
		}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return worker.Receipt{}, ctx.Err()
	})
	o.Grace, o.ReportGrace = 50*time.Millisecond, 8*time.Second
	o.Log = silent() // its last lines may come after the test
	w := run(t, o)
	arrives(t, "one has begun", begun)
	arrives(t, "the other has begun", begun)
	err := w.stopped()
	if err := arrives(t, "the handler's context ends", cause); !errors.Is(err, worker.ErrStopping) {
		t.Errorf("the context ended with %v", err)
	}
	var left *worker.LeftBehindError
	if !errors.As(err, &left) || len(left.Running) != 1 || left.Running[0].JobID != "ignores" || left.Running[0].Effect != store.EffectUnknown || len(left.Reports) != 0 {
		t.Errorf("Run returned %v", err)
	}
	if now := r.job("heeds"); now.State != "review" || now.Verdict != store.VerdictMayHaveHappened {
		t.Errorf("the record shows %+v", now)
	}
	if now := r.job("ignores"); now.State != "running" {
		t.Errorf("the record shows %+v", now)
	}
}
