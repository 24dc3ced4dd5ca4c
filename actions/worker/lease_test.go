package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"jobtop/actions/worker"
	"jobtop/store"
)

// TestSeedsLostLeaseIsHonouredAtOnce: an operator stops a job that runs. The worker
// learns it at its next sign of life, the handler's context ends, and what the handler
// had in hand is kept as a late report.
func TestSeedsLostLeaseIsHonouredAtOnce(t *testing.T) {
	t.Parallel()
	r, p := newRecord(t), newProvider(t)
	r.enqueue(store.NewJob{ID: "job"})
	called, cause := make(chan struct{}), make(chan error, 1)
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		receipt, err := p.handler(ctx, job)
		if err != nil {
			return receipt, err
		}
		close(called)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return receipt, nil
	})
	w := run(t, o)
	arrives(t, "the provider is called", called)
	if answer := r.act("job", "hold", "stop"); answer.Outcome != "applied" {
		t.Fatalf("stop: %+v", answer)
	}
	if err := arrives(t, "the handler's context ends", cause); !errors.Is(err, worker.ErrLeaseLost) {
		t.Errorf("the context ended with %v", err)
	}
	eventually(t, "the receipt is kept", func() bool { return r.job("job").LateReports == 1 })
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if now := r.job("job"); now.State != "review" || now.Verdict != store.VerdictHappened || now.Receipt != "" {
		t.Errorf("the record shows %+v", now)
	}
}

// TestLostLeaseBeforeIntent: a worker that was fenced before it began its effect is not
// given the key.
func TestLostLeaseBeforeIntent(t *testing.T) {
	t.Parallel()
	r, p := newRecord(t), newProvider(t)
	r.enqueue(store.NewJob{ID: "job"})
	claimed, fenced := make(chan struct{}), make(chan struct{})
	begun := make(chan error, 1)
	o := r.options(func(_ context.Context, job *worker.Job) (worker.Receipt, error) {
		close(claimed)
		<-fenced
		receipt, err := p.handler(context.Background(), job)
		begun <- err
		return receipt, err
	})
	o.HeartbeatEvery = time.Hour // so that only Begin can tell
	w := run(t, o)
	arrives(t, "the job is claimed", claimed)
	r.act("job", "hold", "stop")
	close(fenced)
	if err := arrives(t, "Begin answers", begun); !errors.Is(err, worker.ErrLeaseLost) {
		t.Errorf("Begin answered %v", err)
	}
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if calls, _ := p.seen("job"); calls != 0 {
		t.Errorf("the provider was called %d times", calls)
	}
	if now := r.job("job"); now.State != "review" || now.Verdict != store.VerdictNeverStarted || now.LateReports != 1 {
		t.Errorf("the record shows %+v", now)
	}
}

// TestReceiptOfAnEarlierAttempt: while the first attempt's receipt was under way, its job
// was taken for lost and requeued. The second attempt finds the receipt instead of
// permission, and the job is done with it.
func TestReceiptOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "job"})
	ctx := context.Background()
	token := newID()
	jobs, err := r.db.Claim(ctx, store.ClaimRequest{Worker: "w0", Token: token, Kinds: []string{"charge"}, Batch: 1, RecordsIntent: true,
		HeartbeatTimeout: time.Microsecond})
	if err != nil || len(jobs) != 1 {
		t.Fatal(jobs, err)
	}
	if _, err := r.db.BeginEffect(ctx, "job", token); err != nil {
		t.Fatal(err)
	}
	if answer := r.act("job", "requeue", "may_have_happened"); answer.Outcome != "applied" {
		t.Fatalf("requeue: %+v", answer)
	}
	if answer, err := r.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: "of the first"}); answer != store.AnswerLeaseLost {
		t.Fatal(answer, err)
	}

	p := newProvider(t)
	w := run(t, r.options(p.handler))
	r.becomes("job", "done")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if calls, _ := p.seen("job"); calls != 0 {
		t.Errorf("the provider was called %d times more", calls)
	}
	if now := r.job("job"); now.Receipt != "of the first" || now.Attempt != 2 || now.Intent {
		t.Errorf("the record shows %+v", now)
	}
}

// TestSeedsHeartbeatWithoutProgress: a handler that lives and gets nowhere counts as
// stuck, by its progress, while its heartbeat is fresh; one that gets on does not.
func TestSeedsHeartbeatWithoutProgress(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "idle"}, store.NewJob{ID: "busy"})
	release := make(chan struct{})
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for n := int64(1); ; n++ {
			job.Progress(n)
			if job.ID == "idle" {
				job.Progress(1)
			}
			select {
			case <-release:
				return worker.Receipt{ID: "receipt of " + job.ID}, nil
			case <-ticker.C:
			}
		}
	})
	o.ProgressTimeout, o.HeartbeatTimeout, o.Log = time.Second, time.Hour, silent()
	w := run(t, o)
	const stuck = `SELECT count(*) FROM jobtop.jobs j WHERE j.id = $1 AND j.heartbeat_at > clock_timestamp() - j.heartbeat_timeout
		AND jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, clock_timestamp()) IS NOT NULL`
	eventually(t, "the idle job counts as stuck", func() bool { return r.count(stuck, "idle") == 1 })
	eventually(t, "the busy job does not", func() bool { return r.count(stuck, "busy") == 0 })
	close(release)
	r.allDone(2)
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
}

// TestSignsOfLifeDoNotQueueBehindTheWork: the only connection for the work waits for a
// lock; a job that runs meanwhile keeps giving signs of life.
func TestSignsOfLifeDoNotQueueBehindTheWork(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "lives"}, store.NewJob{ID: "waits"})
	running, release := make(chan string, 2), map[string]chan struct{}{"lives": make(chan struct{}), "waits": make(chan struct{})}
	o := r.options(func(_ context.Context, job *worker.Job) (worker.Receipt, error) {
		running <- job.ID
		<-release[job.ID]
		return worker.Receipt{}, worker.NotBegun("a test", errors.New("a test"))
	})
	o.MaxConns = 1
	w := run(t, o)
	arrives(t, "one runs", running)
	arrives(t, "the other runs", running)

	unlock := r.lock("attempts", "ACCESS EXCLUSIVE")
	close(release["waits"])
	r.oneWaits()
	for range 3 {
		before := r.count(`SELECT (extract(epoch FROM heartbeat_at) * 1000)::bigint - 1500000000000 FROM jobtop.jobs WHERE id = 'lives'`)
		eventually(t, "another sign of life", func() bool {
			return r.count(`SELECT (extract(epoch FROM heartbeat_at) * 1000)::bigint - 1500000000000 FROM jobtop.jobs WHERE id = 'lives'`) > before
		})
	}
	unlock()
	close(release["lives"])
	r.becomes("waits", "failed")
	r.becomes("lives", "failed")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
}
