package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

// HistoryErrorLimit bounds the error text of each attempt and late report in a Detail,
// in characters: there may be hundreds, each with a megabyte. That of the last attempt
// is the job's own, which is whole.
const HistoryErrorLimit = 4_000

// Job reads everything about one job but its payload, as of one moment. The error of an
// unknown id is ErrNotFound.
func (db *DB) Job(ctx context.Context, id string) (Detail, error) {
	var d Detail
	job := pgx.NamedArgs{"id": storable(id)}
	history := pgx.NamedArgs{"id": storable(id), "limit": DetailLimit, "error_limit": HistoryErrorLimit, "upto": math.MaxInt32}
	acts, err := newActionSearch(ActionQuery{JobID: id, Limit: DetailLimit})
	if err != nil {
		return Detail{}, err
	}
	_, err = db.read(ctx, "read the job",
		jobRow(id, math.MaxInt32, &d.Job),
		statement{sql: query("job_detail"), arguments: job, rows: one(func(row pgx.Rows) error {
			return row.Scan(&d.CreatedAt, &d.ChangedAt, &d.ChangedBy, &d.ChangedHow, &d.Counts.Attempts, &d.Counts.Actions, &d.Counts.LateReports)
		})},
		statement{sql: query("job_receipt"), arguments: job, rows: one(func(row pgx.Rows) error {
			r, err := scanReceipt(row)
			d.Receipt = &r
			return err
		})},
		statement{sql: query("job_attempts"), arguments: history, rows: collect(&d.Attempts, scanAttempt)},
		statement{sql: query("job_late_reports"), arguments: history, rows: collect(&d.LateReports, scanLateReport)},
		acts.statement(),
	)
	if err != nil {
		return Detail{}, err
	}
	d.Actions = acts.page.Actions
	if err := missing(id, d.Job); err != nil {
		return d, err
	}
	return d, db.readDecisive(ctx, &d)
}

// readDecisive adds the attempt that the verdict rests on, where it is not among the newest.
func (db *DB) readDecisive(ctx context.Context, d *Detail) error {
	n := d.Job.Evidence.Attempt
	if n == nil || len(d.Attempts) == 0 || *n >= d.Attempts[len(d.Attempts)-1].Attempt {
		return nil
	}
	_, err := db.read(ctx, "read the attempt that the verdict rests on", statement{sql: query("job_attempts"), rows: collect(&d.Attempts, scanAttempt),
		arguments: pgx.NamedArgs{"id": d.Job.ID, "limit": 1, "error_limit": HistoryErrorLimit, "upto": *n}})
	return err
}

// Payload reads what one job carries, as JSON; nil where there is nothing (NULL), which
// is not the JSON null. The error of an unknown id is ErrNotFound, that of a role that may
// not read payloads ErrNoRights.
func (db *DB) Payload(ctx context.Context, id string) (json.RawMessage, error) {
	var job Job
	var payload *string
	_, err := db.read(ctx, "read the payload", statement{sql: query("payload"), arguments: pgx.NamedArgs{"id": storable(id)},
		rows: one(func(row pgx.Rows) error { return row.Scan(&job.ID, &payload) })})
	if errors.Is(err, ErrNoRights) {
		return nil, &Problem{
			What: "this role may not read payloads",
			Next: fmt.Sprintf("ask for jobtop_payload (GRANT jobtop_payload TO %s); everything else about the job can be seen without", db.user()),
			Code: "42501", kind: ErrNoRights,
		}
	}
	if err != nil {
		return nil, err
	}
	if payload == nil {
		return nil, missing(id, job)
	}
	return json.RawMessage(*payload), nil
}

func (db *DB) user() string { return db.pool.Config().ConnConfig.User }

// Receipts lists the latest receipts, newest first, at most PageLimit.
func (db *DB) Receipts(ctx context.Context, limit int) ([]Receipt, error) {
	var receipts []Receipt
	_, err := db.read(ctx, "list receipts", statement{sql: query("receipts"),
		arguments: pgx.NamedArgs{"limit": min(max(limit, 1), PageLimit)}, rows: collect(&receipts, scanReceipt)})
	return receipts, err
}

func collect[T any](into *[]T, scan func(pgx.Rows) (T, error)) func(pgx.Rows) error {
	return each(func(row pgx.Rows) error {
		value, err := scan(row)
		*into = append(*into, value)
		return err
	})
}

func scanReceipt(row pgx.Rows) (r Receipt, err error) {
	var age int64
	err = row.Scan(&r.JobID, &r.Kind, &r.ReceiptID, &r.Attempt, &r.RecordedBy, &r.ActionID, &r.RecordedAt, &age)
	r.RecordedAge = span(&age)
	return r, err
}

func scanAttempt(row pgx.Rows) (a Attempt, err error) {
	var claimed int64
	var effect, heartbeat, finished *int64
	err = row.Scan(&a.Attempt, &a.LockToken, &a.Worker, &a.SourceVersion, &a.ClaimedFrom, &a.ClaimedAt, &claimed, &a.RecordsIntent,
		&a.EffectAt, &effect, &a.HeartbeatAt, &heartbeat, &a.FinishedAt, &finished, &a.Outcome, &a.ToState, &a.ErrorCategory, &a.ErrorDetail)
	a.ClaimedAge, a.EffectAge, a.HeartbeatAge, a.FinishedAge = span(&claimed), micros(effect), micros(heartbeat), micros(finished)
	return a, err
}

func scanLateReport(row pgx.Rows) (l LateReport, err error) {
	var age int64
	err = row.Scan(&l.ID, &l.Attempt, &l.LockToken, &l.Worker, &l.ReceiptID, &l.Effect, &l.ErrorCategory, &l.ErrorDetail, &l.At, &age)
	l.Age = span(&age)
	return l, err
}
