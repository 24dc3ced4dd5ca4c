package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"jobtop/actions/worker"
	"jobtop/store"
)

// tally counts how often each job's effect was called for.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) handler(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
	key, err := job.Begin(ctx)
	if err != nil {
		return worker.Receipt{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[key]++
	return worker.Receipt{ID: "receipt of " + key}, nil
}

func (r *record) enqueueMany(n int) {
	r.t.Helper()
	_, err := r.pool.Exec(context.Background(), `SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1) n`, n)
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *record) allDone(n int) {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d jobs are done", n), func() bool {
		return r.count(`SELECT count(*) FROM jobtop.jobs WHERE state = 'done'`) == n
	})
}

// TestSeedsBatchDrain: one worker takes batches and works them off with several
// goroutines, never more than it may.
func TestSeedsBatchDrain(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueueMany(100)
	work := &tally{counts: map[string]int{}}
	var now, most, calls atomic.Int32
	var two sync.WaitGroup // the first ones, which wait for each other
	two.Add(2)
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		if calls.Add(1) <= 2 {
			two.Done()
			two.Wait()
		}
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		return work.handler(ctx, job)
	})
	o.Concurrency, o.Batch = 4, 25
	w := run(t, o)
	r.allDone(100)
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if most := most.Load(); most > 4 {
		t.Errorf("%d handlers ran at once", most)
	}
	if claims := r.count(`SELECT count(DISTINCT lock_token) FROM jobtop.attempts`); claims > 10 {
		t.Errorf("100 jobs took %d claims of up to 25", claims)
	}
	if attempts := r.count(`SELECT count(*) FROM jobtop.attempts`); attempts != 100 {
		t.Errorf("%d attempts", attempts)
	}
}

// TestSeedsSecondInstance: two workers on the same jobs never do one twice.
func TestSeedsSecondInstance(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueueMany(60)
	work := &tally{counts: map[string]int{}}
	var workers []*running
	for _, name := range []string{"first", "second"} {
		o := r.options(work.handler)
		o.Name = name
		workers = append(workers, run(t, o))
	}
	r.allDone(60)
	for _, w := range workers {
		if err := w.stopped(); err != nil {
			t.Error(err)
		}
	}
	for id, n := range work.counts {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	if attempts := r.count(`SELECT count(*) FROM jobtop.attempts`); attempts != 60 {
		t.Errorf("%d attempts at 60 jobs", attempts)
	}
}

// TestSeedsLostAcknowledgements runs jobs through a connection that loses every tenth
// answer of the database and then breaks: of claims, intents, receipts and failures
// alike. Whatever was lost, each call is repeated and the record is the same.
func TestSeedsLostAcknowledgements(t *testing.T) { eitherWay(t, lostAcknowledgements) }

func lostAcknowledgements(t *testing.T, atClaim bool) {
	const jobs = 60
	r := newRecord(t)
	r.enqueueMany(jobs)
	var lost atomic.Int32
	_, throughProxy := r.proxied(func() bool {
		if rand.N(10) > 0 {
			return false
		}
		lost.Add(1)
		return true
	})
	work := &tally{counts: map[string]int{}}
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		if job.Attempt == 1 {
			return worker.Receipt{}, worker.NotBegun("first attempt", context.Canceled)
		}
		return work.handler(ctx, job)
	})
	o.DSN, o.Concurrency, o.Batch, o.Backoff, o.BeginAtClaim = throughProxy, 4, 8, &store.Backoff{}, atClaim
	w := run(t, o)
	r.allDone(jobs)
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	t.Logf("%d answers lost", lost.Load())
	if lost.Load() == 0 {
		t.Error("no answer was lost")
	}
	for id, n := range work.counts {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	first := "not_begun"
	if atClaim {
		first = "refused" // the intent stood, and nobody was told to call
	}
	for what, query := range map[string]string{
		"jobs without exactly two attempts": `SELECT count(*) FROM jobtop.jobs WHERE attempt <> 2`,
		"attempts that ended otherwise":     `SELECT count(*) FROM jobtop.attempts WHERE outcome IS DISTINCT FROM CASE attempt WHEN 1 THEN '` + first + `' ELSE 'done' END`,
		"late reports":                      `SELECT count(*) FROM jobtop.late_reports`,
	} {
		if n := r.count(query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}
