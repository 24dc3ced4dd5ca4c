package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// PauseRequest is a pause of a kind, or its end. ActionID is a UUID that the caller chose
// for it and for no other.
type PauseRequest struct {
	ActionID string
	Kind     string
	Operator string
	Reason   string
	Client   string
	// For is how long a pause lasts; 0 until somebody resumes. Resume ignores it.
	For time.Duration
}

const pauseServerTimeout = 8 * time.Second

// Pause keeps workers from claiming a kind. It is true when this action paused it, and
// false when a settle had voided the action. After an UnknownError it is safe to repeat
// with the same ActionID.
func (db *DB) Pause(ctx context.Context, r PauseRequest) (bool, error) {
	return db.pausing(ctx, "pause "+quote(r.Kind), query("pause"),
		r.ActionID, r.Kind, r.Operator, r.Reason, r.For.Microseconds(), optional(r.Client))
}

// Resume lets workers claim a kind again, and tells whether it was paused. After an
// UnknownError it is safe to repeat with the same ActionID.
func (db *DB) Resume(ctx context.Context, r PauseRequest) (bool, error) {
	return db.pausing(ctx, "resume "+quote(r.Kind), query("resume"),
		r.ActionID, r.Kind, r.Operator, r.Reason, optional(r.Client))
}

func (db *DB) pausing(ctx context.Context, doing, sql string, arguments ...any) (did bool, err error) {
	// Giving up on an answer would only make it unknown.
	err = db.call(context.WithoutCancel(ctx), doing, pauseServerTimeout, func(rows pgx.Rows) error { return rows.Scan(&did) }, sql, arguments...)
	if err != nil && !certain(err) {
		return false, &UnknownError{cause: err}
	}
	return did, db.lacking(operatorRole, err)
}

// certain reports whether an explained error of a call proves that it did nothing: it
// was not sent, or the server itself said no.
func certain(err error) bool {
	var problem *Problem
	if errors.Is(err, ErrNotSent) || errors.Is(err, ErrSchema) {
		return true
	}
	return errors.As(err, &problem) && rolledBack(problem.Code)
}
