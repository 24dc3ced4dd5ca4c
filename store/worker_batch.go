package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// heartbeatServerTimeout is short: a heartbeat that waits for a lock is late already,
// and the next one is due.
const heartbeatServerTimeout = 2 * time.Second

// Beat is a sign of life for a job that a token holds. Progress, where there is any to
// tell, is a number of the worker's own; only that it changes counts.
type Beat struct {
	JobID    string
	Token    string
	Progress *int64
}

// Answer is one row's share of a batch: what the call answered for it, or why it could
// not. The batch as a whole went through all the same.
type Answer[T any] struct {
	Answer T
	Err    error
}

// Heartbeat gives one sign of life. False: the lease is lost, stop at once.
func (db *DB) Heartbeat(ctx context.Context, b Beat) (bool, error) {
	return single(db.Heartbeats(ctx, []Beat{b}))
}

// Heartbeats gives signs of life for a batch, in one transaction. A row that cannot be
// written now, as somebody else holds it locked, keeps the others from nothing.
func (db *DB) Heartbeats(ctx context.Context, beats []Beat) ([]Answer[bool], error) {
	return inBatch(beats, func(some []Beat) ([]bool, error) {
		ids, tokens, progress := make([]string, len(some)), make([]string, len(some)), make([]*int64, len(some))
		for i, b := range some {
			ids[i], tokens[i], progress[i] = b.JobID, b.Token, b.Progress
		}
		held := make([]bool, len(some))
		err := db.call(ctx, "give a sign of life", heartbeatServerTimeout, byNumber(held), query("worker_heartbeat"), ids, tokens, progress)
		return held, err
	})
}

// Completion is the receipt for a job, and its result where there is one to keep.
type Completion struct {
	JobID     string
	Token     string
	ReceiptID string
	Result    json.RawMessage // nil: NULL
}

// Complete makes a job done, with receipt and result in the same transaction. It answers
// with the state that the job went to, done, or review when another job of the kind has
// that receipt ID, or with AnswerLeaseLost, AnswerNotFound or AnswerReceiptInvalid.
func (db *DB) Complete(ctx context.Context, c Completion) (string, error) {
	return single(db.CompleteAll(ctx, []Completion{c}))
}

// CompleteAll is Complete for a batch, in one transaction. A row that cannot be stored
// (a result that is no JSON, say) keeps no other from its receipt.
func (db *DB) CompleteAll(ctx context.Context, completions []Completion) ([]Answer[string], error) {
	return inBatch(completions, func(some []Completion) ([]string, error) {
		n := len(some)
		ids, tokens, receipts, results := make([]string, n), make([]string, n), make([]string, n), make([]*string, n)
		for i, c := range some {
			ids[i], tokens[i], receipts[i], results[i] = c.JobID, c.Token, c.ReceiptID, jsonText(c.Result)
			if storable(c.ReceiptID) != c.ReceiptID {
				receipts[i] = "" // the database could not even read it, so it answers for an empty one
			}
		}
		answers := make([]string, n)
		err := db.call(ctx, "record the receipt", workerServerTimeout, byNumber(answers), query("worker_complete"), ids, tokens, receipts, results)
		return answers, err
	})
}

// inBatch sends all rows at once, and where the server refuses that, each by itself, so
// that only the row at fault gets an error.
func inBatch[Row, T any](rows []Row, send func([]Row) ([]T, error)) ([]Answer[T], error) {
	answers := make([]Answer[T], len(rows))
	if len(rows) == 0 {
		return answers, nil
	}
	values, err := send(rows)
	if err != nil && len(rows) > 1 && refusedByServer(err) {
		for i := range rows {
			one, err := send(rows[i : i+1])
			if err != nil && !refusedByServer(err) {
				return nil, err
			}
			answers[i] = Answer[T]{one[0], err}
		}
		return answers, nil
	}
	if err != nil {
		return nil, err
	}
	for i := range values {
		answers[i].Answer = values[i]
	}
	return answers, nil
}

// single unwraps a batch of one.
func single[T any](answers []Answer[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return answers[0].Answer, answers[0].Err
}

// refusedByServer reports whether the server turned a statement down for what it holds
// or for a lock, so that a part of it may still pass.
func refusedByServer(err error) bool {
	var p *Problem
	if !errors.As(err, &p) || len(p.Code) != 5 {
		return false
	}
	switch p.Code[:2] {
	case "22", "23", "40":
		return true
	}
	return p.Code == "55P03" || p.Code == "57014"
}

// byNumber reads rows of a number from 1 and an answer.
func byNumber[T any](answers []T) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var n int64
		var answer T
		if err := rows.Scan(&n, &answer); err != nil {
			return err
		}
		answers[n-1] = answer
		return nil
	}
}
