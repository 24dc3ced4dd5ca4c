package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"jobtop/actions/worker"
	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// privateRecord is a record on a server that the test may crash.
func privateRecord(t *testing.T) (*record, *sandbox.Server) {
	t.Helper()
	server := sandboxtest.Server(t, sandbox.Options{})
	ctx := context.Background()
	if err := server.CreateDatabase(ctx, "jobs", sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.ApplySchema(ctx, server.URL("jobs")); err != nil {
		t.Fatal(err)
	}
	return openRecord(t, server.URL("jobs")), server
}

// reconnect waits until the test's own connections, which broke with the server, are new.
func (r *record) reconnect() {
	r.t.Helper()
	r.pool.Reset()
	eventually(r.t, "the test has connections again", func() bool {
		_, err := r.db.Enqueue(context.Background(), store.NewJob{ID: "reconnected", Kind: "nobody's"})
		return err == nil && r.pool.Ping(context.Background()) == nil
	})
}

// holdsReceipt is a handler that waits with its receipt in hand.
func holdsReceipt(p *provider, inHand chan<- string, release <-chan struct{}) worker.Handler {
	return func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		receipt, err := p.handler(ctx, job)
		inHand <- job.ID
		<-release
		return receipt, err
	}
}

// TestSeedsDatabaseGoesAwayAndComesBack: the database crashes while a worker holds a
// receipt, is away for some tries, and comes back. The job is done, with one attempt and
// one effect, and the worker goes on with what is next.
func TestSeedsDatabaseGoesAwayAndComesBack(t *testing.T) { eitherWay(t, databaseGoesAwayAndComesBack) }

func databaseGoesAwayAndComesBack(t *testing.T, atClaim bool) {
	r, server := privateRecord(t)
	p := newProvider(t)
	r.enqueue(store.NewJob{ID: "job"})
	inHand, release := make(chan string, 2), make(chan struct{})
	logged := make(chan string, 1000)
	o := r.options(holdsReceipt(p, inHand, release))
	o.Log, o.BeginAtClaim = logTo(logged), atClaim
	w := run(t, o)

	arrives(t, "the receipt is in hand", inHand)
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	close(release)
	for range 3 {
		for !strings.Contains(arrives(t, "the worker tries again", logged), "could not record") {
		}
	}
	if err := server.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.reconnect()
	r.becomes("job", "done")
	r.enqueue(store.NewJob{ID: "next"})
	r.becomes("next", "done")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if now := r.job("job"); now.Attempt != 1 || now.Receipt != "receipt of job" || now.LateReports != 0 {
		t.Errorf("the record shows %+v", now)
	}
	if calls, effects := p.seen("job"); calls != 1 || effects != 1 {
		t.Errorf("%d calls, %d effects", calls, effects)
	}
}

// TestReceiptIsReturnedWhenTheDatabaseStaysAway: a worker that has to stop while the
// database is away keeps trying for its grace, and then says what it could not record.
func TestReceiptIsReturnedWhenTheDatabaseStaysAway(t *testing.T) {
	eitherWay(t, receiptIsReturnedWhenTheDatabaseStaysAway)
}

func receiptIsReturnedWhenTheDatabaseStaysAway(t *testing.T, atClaim bool) {
	r, server := privateRecord(t)
	p := newProvider(t)
	r.enqueue(store.NewJob{ID: "job"})
	inHand, release := make(chan string, 2), make(chan struct{})
	o := r.options(holdsReceipt(p, inHand, release))
	o.Grace, o.ReportGrace, o.BeginAtClaim = 200*time.Millisecond, 200*time.Millisecond, atClaim
	w := run(t, o)
	arrives(t, "the receipt is in hand", inHand)
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	close(release)
	err := w.stopped()
	var left *worker.LeftBehindError
	if !errors.As(err, &left) {
		t.Fatalf("Run returned %v", err)
	}
	if len(left.Reports) != 1 || left.Reports[0].JobID != "job" || left.Reports[0].ReceiptID != "receipt of job" || left.Reports[0].Attempt != 1 {
		t.Errorf("left behind: %+v", left)
	}
	if !strings.Contains(err.Error(), "receipt of job") {
		t.Errorf("the receipt is not in the error: %v", err)
	}
}

// TestWorkerStartsBeforeItsDatabase: a database that is away is waited for; a wrong one is
// an error at once.
func TestWorkerStartsBeforeItsDatabase(t *testing.T) {
	t.Parallel()
	r, server := privateRecord(t)
	p := newProvider(t)
	r.enqueue(store.NewJob{ID: "job"})
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	logged := make(chan string, 1000)
	o := r.options(p.handler)
	o.Log = logTo(logged)
	w := run(t, o)
	for range 3 {
		arrives(t, "the worker tries", logged)
	}
	if err := server.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.reconnect()
	r.becomes("job", "done")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
}

func TestWorkerSaysWhatKeepsItFromWorking(t *testing.T) {
	t.Parallel()
	handlers := map[string]worker.Handler{"charge": nil}
	ctx := context.Background()
	if err := worker.Run(ctx, worker.Options{DSN: sandboxtest.EmptyDatabase(t), Handlers: handlers, Log: silent()}); !errors.Is(err, store.ErrSchema) {
		t.Errorf("without a schema: %v", err)
	}
	if err := worker.Run(ctx, worker.Options{DSN: "postgres://%zz", Handlers: handlers}); !errors.Is(err, store.ErrBadDSN) {
		t.Errorf("with a bad connection string: %v", err)
	}
	if err := worker.Run(ctx, worker.Options{}); err == nil {
		t.Error("without handlers it began")
	}
}
