package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The contradictions that rows can hold, as Contradiction.Problem names them.
const (
	DoneWithoutReceipt    = "done_without_receipt"
	ReceiptWithoutDone    = "receipt_without_done"
	RunningWithoutAttempt = "running_without_attempt"
	AttemptLeftOpen       = "attempt_left_open"
	AttemptsOutOfStep     = "attempts_out_of_step"
	StateUnexplained      = "state_unexplained"
)

// Contradiction is a job whose rows contradict each other. The guard lets none come
// about; they are made past it, by a superuser or a restored backup.
type Contradiction struct {
	JobID   string
	Kind    string
	State   string
	Version int64
	Attempt int
	Problem string
	// Explained is the state that the newest claim, end of an attempt or action gives.
	Explained string
	ReceiptID *string
	// LastAttempt is the highest number in attempts; nil without any.
	LastAttempt *int
}

// The bounds of a look for contradictions, in jobs.
const (
	doctorChunk  = 2_000
	doctorRecent = 1_000
)

// ContradictionsNow looks where a contradiction would matter now: at the jobs that last
// came to be running, failed, in review or dead, and at those that were done last; up to
// 1,000 of each. It tells how many jobs it looked at.
func (db *DB) ContradictionsNow(ctx context.Context) ([]Contradiction, int, error) {
	ids, err := db.ids(ctx, "doctor_open", pgx.NamedArgs{"limit": doctorRecent})
	if err != nil {
		return nil, 0, err
	}
	found, err := db.contradictions(ctx, ids)
	return found, len(ids), err
}

// ContradictionsAfter looks at the next 2,000 jobs in the order of their ids, and
// returns the last of those ids to go on from; "" at the end. It starts after "".
func (db *DB) ContradictionsAfter(ctx context.Context, id string) (found []Contradiction, next string, looked int, err error) {
	ids, err := db.ids(ctx, "doctor_all", pgx.NamedArgs{"after": id, "limit": doctorChunk})
	if err != nil {
		return nil, "", 0, err
	}
	if len(ids) == doctorChunk {
		next = ids[len(ids)-1]
	}
	found, err = db.contradictions(ctx, ids)
	return found, next, len(ids), err
}

func (db *DB) ids(ctx context.Context, name string, arguments pgx.NamedArgs) ([]string, error) {
	var ids []string
	_, err := db.read(ctx, "look for contradictions", statement{sql: query(name), arguments: arguments, rows: each(func(row pgx.Rows) error {
		var id string
		if err := row.Scan(&id); err != nil {
			return err
		}
		ids = append(ids, id)
		return nil
	})})
	return ids, err
}

func (db *DB) contradictions(ctx context.Context, ids []string) ([]Contradiction, error) {
	var found []Contradiction
	_, err := db.read(ctx, "look for contradictions", statement{sql: query("doctor_check"), arguments: pgx.NamedArgs{"ids": ids}, rows: each(func(row pgx.Rows) error {
		var c Contradiction
		if err := row.Scan(&c.JobID, &c.Kind, &c.State, &c.Version, &c.Attempt, &c.Problem, &c.Explained, &c.ReceiptID, &c.LastAttempt); err != nil {
			return err
		}
		found = append(found, c)
		return nil
	})})
	return found, err
}
