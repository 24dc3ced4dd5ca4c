package actions

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// ledger is a database of a test's own: acts go through db as the console's do, all
// else, the checks above all, through a superuser's connections.
type ledger struct {
	t    rapid.TB
	dir  string // for journals
	url  string
	db   *store.DB
	pool *pgxpool.Pool
}

// in is the same ledger for a subtest.
func (l *ledger) in(t rapid.TB) *ledger {
	sub := *l
	sub.t = t
	return &sub
}

var jobNumber atomic.Int64

func newLedger(t testing.TB) *ledger {
	t.Helper()
	return ledgerAt(t, sandboxtest.Database(t))
}

func ledgerAt(t testing.TB, url string) *ledger {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{DSN: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &ledger{t: t, dir: t.TempDir(), url: url, db: db, pool: sandboxtest.Pool(t, url)}
}

func (l *ledger) runner(operator string) *Runner {
	return &Runner{DB: l.db, Operator: operator, Client: "test", Journal: NewJournal(l.dir)}
}

func (l *ledger) exec(sql string, arguments ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(context.Background(), sql, arguments...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

// get reads one value as text.
func (l *ledger) get(sql string, arguments ...any) string {
	l.t.Helper()
	var value *string
	if err := l.pool.QueryRow(context.Background(), sql, arguments...).Scan(&value); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	return str(value)
}

// pastGuard changes what the guard would refuse.
func (l *ledger) pastGuard(sql string, arguments ...any) {
	l.t.Helper()
	ctx := context.Background()
	tx, err := l.pool.Begin(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
		l.t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, sql, arguments...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	if err := tx.Commit(ctx); err != nil {
		l.t.Fatal(err)
	}
}

// enqueue adds a job of a kind of its own, so that a claim of the kind takes just it.
func (l *ledger) enqueue() (id, kind string) {
	l.t.Helper()
	n := jobNumber.Add(1)
	id, kind = fmt.Sprintf("charge-%d", n), fmt.Sprintf("card.charge.%d", n)
	l.exec("SELECT jobtop.enqueue($1, $2)", id, kind)
	return id, kind
}

// claim takes the job of a kind, whatever its backoff, and returns the token.
func (l *ledger) claim(id, kind string, recordsIntent bool) string {
	l.t.Helper()
	l.exec("UPDATE jobtop.jobs SET run_at = now() WHERE id = $1", id)
	token := uuid.NewString()
	if got := l.get("SELECT job_id FROM jobtop.claim('w-7', $1::text::uuid, ARRAY[$2::text], records_intent => $3)", token, kind, recordsIntent); got != id {
		l.t.Fatalf("claimed %q instead of %q", got, id)
	}
	return token
}

// begin records the intent.
func (l *ledger) begin(id, token string) {
	l.t.Helper()
	var answer, key, receipt *string
	err := l.pool.QueryRow(context.Background(), "CALL jobtop.begin_effect($1, $2::text::uuid, NULL, NULL, NULL)", id, token).Scan(&answer, &key, &receipt)
	if err != nil || str(answer) != "begin" {
		l.t.Fatalf("begin_effect of %s: %q, %v", id, str(answer), err)
	}
}

func (l *ledger) fail(id, token, effect string, retry bool) {
	l.t.Helper()
	l.exec("SELECT jobtop.fail($1, $2::text::uuid, $3, retry => $4)", id, token, effect, retry)
}

func (l *ledger) complete(id, token string) {
	l.t.Helper()
	if got := l.get("SELECT jobtop.complete($1, $2::text::uuid, 'ch_' || $1)", id, token); got != "done" {
		l.t.Fatalf("complete of %s: %s", id, got)
	}
}

// silence makes a running job stuck.
func (l *ledger) silence(id string) {
	l.t.Helper()
	l.pastGuard("UPDATE jobtop.jobs SET heartbeat_at = heartbeat_at - interval '1 hour', claimed_at = claimed_at - interval '1 hour' WHERE id = $1", id)
}

// bring makes a job and takes it to a state on the usual way; a running one is stuck
// if asked.
func (l *ledger) bring(to State, stuck bool) (id, kind string) {
	l.t.Helper()
	id, kind = l.enqueue()
	if to == Pending {
		return id, kind
	}
	token := l.claim(id, kind, true)
	switch to {
	case Running:
		if stuck {
			l.silence(id)
		}
	case Failed:
		l.fail(id, token, "not_begun", true)
	case Review:
		l.begin(id, token)
		l.fail(id, token, "unknown", true)
	case Done:
		l.begin(id, token)
		l.complete(id, token)
	case Dead:
		l.fail(id, token, "refused", false)
	default:
		l.t.Fatalf("no way to %s", to)
	}
	if got := l.state(id); got != to {
		l.t.Fatalf("%s is %s, not %s", id, got, to)
	}
	return id, kind
}

func (l *ledger) state(id string) State {
	l.t.Helper()
	return State(l.get("SELECT state FROM jobtop.jobs WHERE id = $1", id))
}

// see reads what an operator would see of a job.
func (l *ledger) see(id string) store.Job {
	l.t.Helper()
	var j store.Job
	var heartbeat, limit, stuck, effect, recorded *int64
	err := l.pool.QueryRow(context.Background(), `
		SELECT j.id, j.kind, j.state, j.version, j.attempt, j.max_attempts, j.lock_token::text, j.worker, j.effect_key,
		       (extract(epoch FROM clock_timestamp() - j.heartbeat_at) * 1000000)::bigint, (extract(epoch FROM j.heartbeat_timeout) * 1000000)::bigint,
		       (extract(epoch FROM jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, clock_timestamp())) * 1000000)::bigint,
		       e.verdict, e.attempt, (extract(epoch FROM clock_timestamp() - e.effect_at) * 1000000)::bigint, e.receipt_id, e.recorded_by, (extract(epoch FROM clock_timestamp() - e.recorded_at) * 1000000)::bigint, coalesce(e.late, false)
		  FROM jobtop.jobs j, jobtop.evidence(j.id) e
		 WHERE j.id = $1`, id).Scan(&j.ID, &j.Kind, &j.State, &j.Version, &j.Attempt, &j.MaxAttempts, &j.LockToken, &j.Worker, &j.EffectKey,
		&heartbeat, &limit, &stuck,
		&j.Evidence.Verdict, &j.Evidence.Attempt, &effect, &j.Evidence.ReceiptID, &j.Evidence.RecordedBy, &recorded, &j.Evidence.Late)
	if err != nil {
		l.t.Fatalf("reading %s: %v", id, err)
	}
	j.HeartbeatAge, j.StuckFor, j.Evidence.EffectAge, j.Evidence.RecordedAge = us(heartbeat), us(stuck), us(effect), us(recorded)
	j.HeartbeatTimeout = *us(limit)
	return j
}

func us(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Microsecond
	return &d
}

// order binds a verb to what is seen of a job now, with all that is asked for.
func (l *ledger) order(v Verb, id string) Order {
	l.t.Helper()
	job := l.see(id)
	asks := Ask(v, job)
	o := Order{Verb: v, JobID: id, SeenState: State(job.State), SeenVersion: job.Version, Reason: "ticket 5512", Confirmations: asks.Confirmations()}
	if asks.Receipt {
		o.ReceiptID = "ch_" + id
	}
	return o
}

// must runs an order that has to have an outcome.
func (l *ledger) must(r *Runner, o Order, want Outcome) Result {
	l.t.Helper()
	result := r.Run(context.Background(), o)
	if result.Outcome != want {
		l.t.Fatalf("%s of %s: %s, want %s: %s", o.Verb, o.JobID, result.Outcome, want, Explain(result))
	}
	return result
}

// sqlState is the SQLSTATE of a refused statement, "" when it was not refused.
func sqlState(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

// eventually polls until something holds.
func eventually(t rapid.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
