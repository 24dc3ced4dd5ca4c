package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ActRequest is one verb on one job, bound to what the operator saw. ActionID is a
// UUID that the caller chose for this act and for no other.
type ActRequest struct {
	ActionID      string
	Verb          string
	JobID         string
	SeenState     string
	SeenVersion   int64
	Operator      string
	Reason        string
	ReceiptID     string
	Confirmations []string
	Lookup        json.RawMessage // nil: nothing was looked up
	Client        string
	Delay         time.Duration // requeue only: not to be claimed before that
}

// ActAnswer is what the record says about an action, and what its job is now.
type ActAnswer struct {
	ActionID string
	Outcome  string // applied, refused, void
	Refusal  *string
	ToState  *string
	// ToVersion is the version an applied action made. Where it is not Version, the
	// job has moved on since.
	ToVersion  *int64
	Verdict    *string
	Blocker    *string // after receipt_conflict: the job that holds the receipt
	State      *string // nil: there is no such job
	Version    *int64
	Attempt    *int
	ReceiptID  *string
	ChangedBy  *string
	ChangedHow *string
	ChangedAgo *time.Duration
	LockToken  *string
}

// UnknownError says that an act's or a settle's answer was lost: it may have been
// committed or may yet be. Settle finds out.
type UnknownError struct{ cause error }

func (e *UnknownError) Error() string {
	if e.cause == nil {
		return "the answer was lost"
	}
	return "the answer was lost: " + e.cause.Error()
}

func (e *UnknownError) Unwrap() error { return e.cause }

// actTimeout is Options.ActTimeout unless given.
const actTimeout = 8 * time.Second

// Act sends one act in one round trip and one transaction. It returns an answer that
// the record holds, or an error. Of errors, an UnknownError means that the act may
// have happened; any other that it did not and will not.
//
// It does not heed the caller's cancellation once it is sent: giving up on an answer
// would only make it unknown. Its own deadline is one and a half times Options.ActTimeout.
func (db *DB) Act(ctx context.Context, r ActRequest) (ActAnswer, error) {
	var lookup *string
	if r.Lookup != nil {
		text := string(r.Lookup)
		lookup = &text
	}
	confirmations := r.Confirmations
	if confirmations == nil {
		confirmations = []string{}
	}
	return db.transact(ctx, "act", query("act"), r.ActionID, r.Verb, r.JobID, r.SeenState, r.SeenVersion, r.Operator, r.Reason,
		optional(r.ReceiptID), confirmations, lookup, optional(r.Client), r.Delay.Microseconds())
}

// Settle finds out what became of an act whose answer was lost, and makes sure of it:
// where it had not landed, it never will. The errors are those of Act.
func (db *DB) Settle(ctx context.Context, actionID, verb, jobID, operator, client string) (ActAnswer, error) {
	return db.transact(ctx, "settle", query("settle"), actionID, verb, optional(jobID), operator, optional(client))
}

// transact pipelines BEGIN, the timeouts, one call and COMMIT.
func (db *DB) transact(ctx context.Context, doing, sql string, arguments ...any) (ActAnswer, error) {
	// The client waits longer than the server may take, so that whoever gives up first is
	// the one who knows.
	limit := cmp.Or(db.acts, actTimeout)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit*3/2)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		// Nothing was sent.
		return ActAnswer{}, db.explainAcquire(err)
	}
	defer conn.Release()

	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	// Local to the transaction, so that they also hold through a pooler.
	batch.Queue(fmt.Sprintf("SET LOCAL statement_timeout = %d", limit.Milliseconds()))
	batch.Queue("SET LOCAL idle_in_transaction_session_timeout = '10s'")
	batch.Queue(sql, arguments...)
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, batch)

	answer, err := readAct(results)
	closeErr := results.Close()
	if err == nil {
		err = closeErr
	}
	if err == nil {
		return answer, nil
	}
	db.forget(err)
	if neverCommitted(err) {
		return ActAnswer{}, db.lacking(operatorRole, explain(doing, err))
	}
	return ActAnswer{}, &UnknownError{cause: explain("hear the answer", err)}
}

func readAct(results pgx.BatchResults) (ActAnswer, error) {
	var a ActAnswer
	for range 3 {
		if _, err := results.Exec(); err != nil {
			return a, err
		}
	}
	err := results.QueryRow().Scan(&a.ActionID, &a.Outcome, &a.Refusal, &a.ToState, &a.ToVersion, &a.Verdict, &a.Blocker, &a.State, &a.Version,
		&a.Attempt, &a.ReceiptID, &a.ChangedBy, &a.ChangedHow, &a.ChangedAgo, &a.LockToken)
	if err != nil {
		return a, err
	}
	tag, err := results.Exec()
	if err != nil {
		return a, err
	}
	if tag.String() != "COMMIT" {
		return a, errRolledBack
	}
	return a, nil
}

// errRolledBack: COMMIT was answered with ROLLBACK, so the act certainly did not land.
var errRolledBack = errors.New("the transaction was rolled back")

// neverCommitted reports whether an error proves that the transaction it ended did not
// commit. Only the server's own word does, in an error that ends the transaction and
// came instead of an answer to COMMIT: everything else, a closed connection and the
// errors that a server sends while it goes down included, leaves it open.
func neverCommitted(err error) bool {
	if errors.Is(err, errRolledBack) {
		return true
	}
	var server *pgconn.PgError
	if !errors.As(err, &server) {
		return false
	}
	if server.Severity != "ERROR" && server.SeverityUnlocalized != "ERROR" {
		return false // FATAL and PANIC end the connection, perhaps during the commit
	}
	return rolledBack(server.Code)
}

// rolledBack reports whether a SQLSTATE ends a transaction for certain.
func rolledBack(code string) bool {
	if len(code) != 5 {
		return false
	}
	switch code[:2] {
	case "08", "57", "58", "XX":
		// 57014 is a statement that the server itself gave up: it ends the transaction.
		return code == "57014"
	case "40":
		return code != "40003" // statement completion unknown
	}
	return true
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func micros(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Microsecond
	return &d
}
