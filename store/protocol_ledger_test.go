package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// ledger is a database of a test's own, as workers and operators use it (db), and as a
// superuser does (pool).
type ledger struct {
	t    testing.TB
	url  string
	db   *store.DB
	pool *pgxpool.Pool
}

func newLedger(t testing.TB) *ledger {
	t.Helper()
	return openLedger(t, sandboxtest.Database(t))
}

func openLedger(t testing.TB, url string) *ledger {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{DSN: url, Application: "test", MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &ledger{t: t, url: url, db: db, pool: sandboxtest.Pool(t, url)}
}

// in is the same ledger for a subtest.
func (l *ledger) in(t testing.TB) *ledger {
	sub := *l
	sub.t = t
	return &sub
}

func (l *ledger) exec(sql string, arguments ...any) {
	l.t.Helper()
	if _, err := l.pool.Exec(context.Background(), sql, arguments...); err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}

// get reads one value as text, "" for NULL.
func (l *ledger) get(sql string, arguments ...any) string {
	l.t.Helper()
	var value *string
	err := l.pool.QueryRow(context.Background(), "SELECT ("+sql+")::text", arguments...).Scan(&value)
	if err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
	if value == nil {
		return ""
	}
	return *value
}

// is checks one value.
func (l *ledger) is(want, sql string, arguments ...any) {
	l.t.Helper()
	if got := l.get(sql, arguments...); got != want {
		l.t.Errorf("%s\nis %q, not %q", sql, got, want)
	}
}

// refused checks that a statement fails with a SQLSTATE.
func (l *ledger) refused(code, sql string, arguments ...any) {
	l.t.Helper()
	_, err := l.pool.Exec(context.Background(), sql, arguments...)
	if sqlstate(err) != code {
		l.t.Errorf("%s\nended with %v, not with %s", sql, err, code)
	}
}

// session is one connection, for what needs a role or a transaction of its own.
func (l *ledger) session() *pgx.Conn {
	l.t.Helper()
	conn, err := pgx.Connect(context.Background(), l.url)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func sqlstate(err error) string {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return server.Code
	}
	return ""
}

// newToken is a lock token or an action id.
func newToken() string { return uuid.Must(uuid.NewV7()).String() }

func (l *ledger) enqueue(jobs ...store.NewJob) {
	l.t.Helper()
	for _, j := range jobs {
		if j.Kind == "" {
			j.Kind = "charge"
		}
		if added, err := l.db.Enqueue(context.Background(), j); err != nil || !added {
			l.t.Fatalf("enqueue %s: %v, %v", j.ID, added, err)
		}
	}
}

// claim takes up to batch jobs of kind charge and returns the token and the ids.
func (l *ledger) claim(batch int) (token, ids string) {
	l.t.Helper()
	token = newToken()
	return token, l.claimAs(token, batch)
}

func (l *ledger) claimAs(token string, batch int) string {
	l.t.Helper()
	jobs, err := l.db.Claim(context.Background(), store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"charge"}, Batch: batch, RecordsIntent: true})
	if err != nil {
		l.t.Fatalf("claim: %v", err)
	}
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.JobID)
	}
	return strings.Join(ids, " ")
}

// take enqueues one job, claims it, and records its intent where asked.
func (l *ledger) take(id string, begin bool) (token string) {
	l.t.Helper()
	l.enqueue(store.NewJob{ID: id})
	token, ids := l.claim(1)
	if ids != id {
		l.t.Fatalf("claimed %q, not %q", ids, id)
	}
	if begin {
		l.begin(id, token)
	}
	return token
}

func (l *ledger) begin(id, token string) {
	l.t.Helper()
	if intent, err := l.db.BeginEffect(context.Background(), id, token); err != nil || intent.Answer != store.IntentBegin {
		l.t.Fatalf("begin %s: %+v, %v", id, intent, err)
	}
}

func (l *ledger) complete(id, token, receipt string) string {
	l.t.Helper()
	answer, err := l.db.Complete(context.Background(), store.Completion{JobID: id, Token: token, ReceiptID: receipt})
	if err != nil {
		l.t.Fatalf("complete %s: %v", id, err)
	}
	return answer
}

func (l *ledger) fail(id, token, effect string, retry bool) string {
	l.t.Helper()
	answer, err := l.db.Fail(context.Background(), store.Failure{JobID: id, Token: token, Effect: effect, Retry: retry, Category: "test"})
	if err != nil {
		l.t.Fatalf("fail %s: %v", id, err)
	}
	return answer
}

// stop takes a running job away from its worker.
func (l *ledger) stop(id string) { l.act(id, "hold", "stop") }

// act is an operator's verb on a job as it is, which must be applied.
func (l *ledger) act(id, verb string, confirmations ...string) {
	l.t.Helper()
	var request store.ActRequest
	err := l.pool.QueryRow(context.Background(), `SELECT state, version FROM jobtop.jobs WHERE id = $1`, id).Scan(&request.SeenState, &request.SeenVersion)
	if err != nil {
		l.t.Fatal(err)
	}
	request.ActionID, request.Verb, request.JobID, request.Operator, request.Reason, request.Confirmations = newToken(), verb, id, "ada", "a test", confirmations
	if verb == "done" {
		request.ReceiptID = "by hand " + id
	}
	if answer, err := l.db.Act(context.Background(), request); err != nil || answer.Outcome != "applied" {
		l.t.Fatalf("%s %s: %+v, %v", verb, id, answer, err)
	}
}

// job checks a job's state, attempt and verdict.
func (l *ledger) job(id, state string, attempt int, verdict string) {
	l.t.Helper()
	var gotState, gotVerdict string
	var gotAttempt int
	err := l.pool.QueryRow(context.Background(), `SELECT j.state, j.attempt, e.verdict FROM jobtop.jobs j, jobtop.evidence(j.id) e WHERE j.id = $1`, id).
		Scan(&gotState, &gotAttempt, &gotVerdict)
	if err != nil {
		l.t.Fatal(err)
	}
	if gotState != state || gotAttempt != attempt || gotVerdict != verdict {
		l.t.Errorf("job %s is %s, attempt %d, %s; not %s, attempt %d, %s", id, gotState, gotAttempt, gotVerdict, state, attempt, verdict)
	}
}

// row is everything that the record holds about a job, heartbeats aside.
func (l *ledger) row(id string) string {
	l.t.Helper()
	return l.get(`SELECT jsonb_build_object('job', to_jsonb(j) - 'heartbeat_at',
		'attempts', (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.attempt) FROM jobtop.attempts a WHERE a.job_id = j.id),
		'receipt', (SELECT to_jsonb(r) FROM jobtop.receipts r WHERE r.job_id = j.id),
		'late', (SELECT jsonb_agg(to_jsonb(l) ORDER BY l.id) FROM jobtop.late_reports l WHERE l.job_id = j.id),
		'actions', (SELECT jsonb_agg(to_jsonb(x) ORDER BY x.at) FROM jobtop.actions x WHERE x.job_id = j.id))
		FROM jobtop.jobs j WHERE j.id = $1`, id)
}

// eventually polls until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// pastGuard changes what the guard would refuse, as only a superuser can.
func (l *ledger) pastGuard(sql string, arguments ...any) {
	l.t.Helper()
	ctx := context.Background()
	err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sql, arguments...)
		return err
	})
	if err != nil {
		l.t.Fatalf("%s: %v", sql, err)
	}
}
