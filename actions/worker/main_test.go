package worker_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/actions/worker"
	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// TestMain plays the worker process that the kill tests kill, where it is told to.
func TestMain(m *testing.M) {
	if os.Getenv(windowEnv) != "" {
		playVictim()
		return
	}
	os.Exit(m.Run())
}

// record is a database of a test's own, and what the test sees of it.
type record struct {
	t    *testing.T
	url  string
	db   *store.DB
	pool *pgxpool.Pool
}

func newRecord(t *testing.T) *record {
	t.Helper()
	return openRecord(t, sandboxtest.Database(t))
}

func openRecord(t *testing.T, url string) *record {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{DSN: url, Application: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &record{t: t, url: url, db: db, pool: sandboxtest.Pool(t, url)}
}

func (r *record) enqueue(jobs ...store.NewJob) {
	r.t.Helper()
	for _, j := range jobs {
		if j.Kind == "" {
			j.Kind = "charge"
		}
		if added, err := r.db.Enqueue(context.Background(), j); err != nil || !added {
			r.t.Fatalf("enqueue %s: %v, %v", j.ID, added, err)
		}
	}
}

// seen is what the record shows of a job.
type seen struct {
	State         string
	Attempt       int
	Version       int64
	Verdict       string
	Receipt       string
	Outcome       string // of the last attempt
	Category      string
	Intent        bool
	LateReports   int
	LockedByToken bool
}

func (r *record) job(id string) seen {
	r.t.Helper()
	var s seen
	err := r.pool.QueryRow(context.Background(), `
		SELECT j.state, j.attempt, j.version, e.verdict, coalesce(x.receipt_id, ''), coalesce(a.outcome, ''), coalesce(j.error_category, ''),
		       j.effect_at IS NOT NULL, (SELECT count(*) FROM jobtop.late_reports l WHERE l.job_id = j.id), j.lock_token IS NOT NULL
		  FROM jobtop.jobs j
		  CROSS JOIN LATERAL jobtop.evidence(j.id) e
		  LEFT JOIN jobtop.receipts x ON x.job_id = j.id
		  LEFT JOIN jobtop.attempts a ON a.job_id = j.id AND a.attempt = j.attempt
		 WHERE j.id = $1`, id).
		Scan(&s.State, &s.Attempt, &s.Version, &s.Verdict, &s.Receipt, &s.Outcome, &s.Category, &s.Intent, &s.LateReports, &s.LockedByToken)
	if err != nil {
		r.t.Fatalf("look at %s: %v", id, err)
	}
	return s
}

// count returns the one number that a query answers.
func (r *record) count(query string, arguments ...any) int {
	r.t.Helper()
	var n int
	if err := r.pool.QueryRow(context.Background(), query, arguments...).Scan(&n); err != nil {
		r.t.Fatal(err)
	}
	return n
}

// becomes waits until a job is in a state.
func (r *record) becomes(id, state string) seen {
	r.t.Helper()
	eventually(r.t, "job "+id+" becomes "+state, func() bool { return r.job(id).State == state })
	return r.job(id)
}

// act is an operator's verb on a job as it is now.
func (r *record) act(id, verb string, confirmations ...string) store.ActAnswer {
	r.t.Helper()
	now := r.job(id)
	answer, err := r.db.Act(context.Background(), store.ActRequest{
		ActionID: newID(), Verb: verb, JobID: id, SeenState: now.State, SeenVersion: now.Version,
		Operator: "ada", Reason: "a test", Confirmations: confirmations,
	})
	if err != nil {
		r.t.Fatalf("%s %s: %v", verb, id, err)
	}
	return answer
}

// lock keeps a table locked until the function that it returns is called.
func (r *record) lock(table, mode string) (unlock func()) {
	r.t.Helper()
	ctx := context.Background()
	tx, err := r.pool.Begin(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = tx.Rollback(ctx) })
	if _, err := tx.Exec(ctx, "LOCK TABLE jobtop."+table+" IN "+mode+" MODE"); err != nil {
		r.t.Fatal(err)
	}
	return func() {
		r.t.Helper()
		if err := tx.Rollback(ctx); err != nil {
			r.t.Fatal(err)
		}
	}
}

// oneWaits waits until one call of a worker waits for a lock.
func (r *record) oneWaits() {
	r.t.Helper()
	eventually(r.t, "the worker waits for the lock", func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'jobtop worker' AND wait_event_type = 'Lock'`) == 1
	})
}

// options are those of a worker that waits for nothing.
func (r *record) options(handler worker.Handler) worker.Options {
	return worker.Options{
		DSN: r.url, Name: "w1", Handlers: map[string]worker.Handler{"charge": handler},
		PollMin: 5 * time.Millisecond, PollMax: 20 * time.Millisecond,
		RetryMin: 5 * time.Millisecond, RetryMax: 50 * time.Millisecond,
		HeartbeatTimeout: 20 * time.Second, HeartbeatEvery: 20 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(testWriter{r.t}, nil)),
	}
}

// running is a worker of this process.
type running struct {
	t    *testing.T
	stop context.CancelFunc
	end  chan struct{} // closed when Run has returned err
	err  error
}

func run(t *testing.T, o worker.Options) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &running{t: t, stop: cancel, end: make(chan struct{})}
	go func() {
		defer close(w.end)
		w.err = worker.Run(ctx, o)
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-w.end:
		case <-time.After(patience):
			t.Error("the worker did not end")
		}
	})
	return w
}

// stopped asks the worker to stop and returns what Run returned.
func (w *running) stopped() error {
	w.t.Helper()
	w.stop()
	return w.ended()
}

func (w *running) ended() error {
	w.t.Helper()
	select {
	case <-w.end:
		return w.err
	case <-time.After(patience):
		w.t.Fatal("the worker did not end")
		return nil
	}
}

// patience bounds every wait for an event on a busy machine.
const patience = 60 * time.Second

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// arrives waits for something to be sent or closed.
func arrives[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("not within %s: %s", patience, what)
		panic("unreachable")
	}
}

// testWriter shows a worker's log with the test that failed.
type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Helper()
	w.t.Log(string(p))
	return len(p), nil
}

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
