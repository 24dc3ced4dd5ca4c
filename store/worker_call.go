package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long the server may take over a worker's call, and how much longer the client
// waits for the answer, so that whoever gives up first is the one who knows.
const (
	workerServerTimeout = 8 * time.Second
	answerAllowance     = 4 * time.Second
)

// ErrNotSent: the call certainly reached no server, as no connection could be had. It is
// wrapped together with the reason. Returned by the worker's calls.
var ErrNotSent = errors.New("not sent")

// notSent keeps the words of the reason, which are for people; ErrNotSent is for programs.
type notSent struct{ error }

func (e notSent) Unwrap() []error { return []error{e.error, ErrNotSent} }

// call pipelines BEGIN, the timeouts, one statement and COMMIT, and passes each row of
// the statement to read.
func (db *DB) call(ctx context.Context, doing string, limit time.Duration, read func(pgx.Rows) error, sql string, arguments ...any) error {
	ctx, cancel := context.WithTimeout(ctx, limit+answerAllowance)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return notSent{db.explainAcquire(err)}
	}
	defer conn.Release()

	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	// The lock's limit lies below the statement's, so that an error names the lock.
	batch.Queue(query("worker_timeouts"), limit.Milliseconds(), limit.Milliseconds()*3/4)
	batch.Queue(sql, arguments...)
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, batch)
	err = readCall(results, read)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		db.forget(err)
		return db.lacking(workerRole, explain(doing, err))
	}
	return nil
}

func readCall(results pgx.BatchResults, read func(pgx.Rows) error) error {
	for range 2 {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	tag, err := results.Exec()
	if err == nil && tag.String() != "COMMIT" {
		err = errRolledBack
	}
	return err
}

// scalar reads the only value of the only row.
func scalar[T any](into *T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error { return rows.Scan(into) }
}

// storable makes any text one that PostgreSQL can store: UTF-8 without NUL.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func jsonText(m json.RawMessage) *string {
	if m == nil {
		return nil
	}
	s := string(m)
	return &s
}

// jsonOf is the other way round: nil for NULL.
func jsonOf(s *string) json.RawMessage {
	if s == nil {
		return nil
	}
	return json.RawMessage(*s)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
