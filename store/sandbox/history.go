package sandbox

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// History is a past to give to a database of a sandbox: rows as they would stand there,
// had everything really happened. Each moment is how long ago it was when the history
// is inserted; negative ones lie ahead. Nil moments and strings are NULL.
type History struct {
	Jobs        []PastJob
	Receipts    []PastReceipt
	Attempts    []PastAttempt
	Actions     []PastAction
	LateReports []PastLateReport
	Paused      []PastPause
}

// PastJob is a row of jobs.
type PastJob struct {
	ID               string          `json:"id"`
	Kind             string          `json:"kind"`
	State            string          `json:"state"`
	Version          int64           `json:"version"`
	Attempt          int             `json:"attempt"`
	MaxAttempts      int             `json:"max_attempts"`
	Run              time.Duration   `json:"run_at"`
	LockToken        *string         `json:"lock_token,omitempty"`
	Worker           *string         `json:"worker,omitempty"`
	Claimed          *time.Duration  `json:"claimed_at,omitempty"`
	Heartbeat        *time.Duration  `json:"heartbeat_at,omitempty"`
	HeartbeatTimeout time.Duration   `json:"heartbeat_timeout"`
	Progress         *int64          `json:"progress,omitempty"`
	Progressed       *time.Duration  `json:"progress_at,omitempty"`
	ProgressTimeout  *time.Duration  `json:"progress_timeout,omitempty"`
	EffectKey        string          `json:"effect_key"`
	Effect           *time.Duration  `json:"effect_at,omitempty"`
	ErrorCategory    *string         `json:"error_category,omitempty"`
	ErrorDetail      *string         `json:"error_detail,omitempty"`
	SourceVersion    *string         `json:"source_version,omitempty"`
	Payload          json.RawMessage `json:"payload,omitempty"`
	Created          time.Duration   `json:"created_at"`
	Changed          time.Duration   `json:"state_changed_at"`
}

// PastReceipt is a row of receipts.
type PastReceipt struct {
	JobID      string          `json:"job_id"`
	Kind       string          `json:"kind"`
	ReceiptID  string          `json:"receipt_id"`
	Result     json.RawMessage `json:"result,omitempty"`
	Attempt    int             `json:"attempt"`
	RecordedBy string          `json:"recorded_by"`
	ActionID   *string         `json:"action_id,omitempty"`
	Recorded   time.Duration   `json:"recorded_at"`
}

// PastAttempt is a row of attempts.
type PastAttempt struct {
	JobID         string         `json:"job_id"`
	Attempt       int            `json:"attempt"`
	LockToken     string         `json:"lock_token"`
	Worker        string         `json:"worker"`
	SourceVersion *string        `json:"source_version,omitempty"`
	ClaimedFrom   string         `json:"claimed_from"`
	Claimed       time.Duration  `json:"claimed_at"`
	RecordsIntent bool           `json:"records_intent"`
	Effect        *time.Duration `json:"effect_at,omitempty"`
	Heartbeat     *time.Duration `json:"heartbeat_at,omitempty"`
	Finished      *time.Duration `json:"finished_at,omitempty"`
	Outcome       *string        `json:"outcome,omitempty"`
	ToState       *string        `json:"to_state,omitempty"`
	ErrorCategory *string        `json:"error_category,omitempty"`
	ErrorDetail   *string        `json:"error_detail,omitempty"`
}

// PastAction is a row of actions.
type PastAction struct {
	ActionID      string          `json:"action_id"`
	Verb          string          `json:"verb"`
	JobID         *string         `json:"job_id,omitempty"`
	Kind          *string         `json:"kind,omitempty"`
	FromState     *string         `json:"from_state,omitempty"`
	ToState       *string         `json:"to_state,omitempty"`
	SeenState     *string         `json:"seen_state,omitempty"`
	SeenVersion   *int64          `json:"seen_version,omitempty"`
	Version       *int64          `json:"version,omitempty"`
	Attempt       *int            `json:"attempt,omitempty"`
	LockToken     *string         `json:"lock_token,omitempty"`
	Operator      string          `json:"operator"`
	DBRole        string          `json:"db_role"`
	Client        *string         `json:"client,omitempty"`
	Reason        *string         `json:"reason,omitempty"`
	Confirmations []string        `json:"confirmations,omitempty"`
	Lookup        json.RawMessage `json:"lookup,omitempty"`
	ReceiptID     *string         `json:"receipt_id,omitempty"`
	Delay         *time.Duration  `json:"delay,omitempty"`
	Outcome       string          `json:"outcome"`
	Refusal       *string         `json:"refusal,omitempty"`
	At            time.Duration   `json:"at"`
}

// PastLateReport is a row of late_reports.
type PastLateReport struct {
	JobID         string          `json:"job_id"`
	Attempt       *int            `json:"attempt,omitempty"`
	LockToken     string          `json:"lock_token"`
	Worker        *string         `json:"worker,omitempty"`
	ReceiptID     *string         `json:"receipt_id,omitempty"`
	Result        json.RawMessage `json:"result,omitempty"`
	Effect        *string         `json:"effect,omitempty"`
	ErrorCategory *string         `json:"error_category,omitempty"`
	ErrorDetail   *string         `json:"error_detail,omitempty"`
	At            time.Duration   `json:"at"`
}

// PastPause is a row of paused.
type PastPause struct {
	Kind   string         `json:"kind"`
	By     string         `json:"by"`
	Reason string         `json:"reason"`
	Since  time.Duration  `json:"since"`
	Until  *time.Duration `json:"until,omitempty"`
}

// The statements that insert a history. Each takes its rows as JSON.
var (
	//go:embed sql/history_jobs.sql
	historyJobs string
	//go:embed sql/history_receipts.sql
	historyReceipts string
	//go:embed sql/history_attempts.sql
	historyAttempts string
	//go:embed sql/history_actions.sql
	historyActions string
	//go:embed sql/history_late_reports.sql
	historyLateReports string
	//go:embed sql/history_paused.sql
	historyPaused string
	//go:embed sql/history_unguarded.sql
	historyUnguarded string
	//go:embed sql/history_analyze.sql
	historyAnalyze string
)

// InsertHistory writes a past into a database that has jobtop's schema, in one
// transaction. It gets past the guard as the server's superuser with the triggers set
// aside, so only constraints of the tables hold; that the rows tell one story is up to
// the caller. No other program may do so.
func (s *Server) InsertHistory(ctx context.Context, database string, h History) (err error) {
	conn, err := pgx.Connect(ctx, s.URL(database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, historyUnguarded); err != nil {
			return err
		}
		for _, part := range []struct {
			sql  string
			rows any
		}{
			{historyJobs, h.Jobs}, {historyReceipts, h.Receipts}, {historyAttempts, h.Attempts},
			{historyActions, h.Actions}, {historyLateReports, h.LateReports}, {historyPaused, h.Paused},
		} {
			rows, err := json.Marshal(part.rows)
			if err != nil {
				return err
			}
			if string(rows) == "null" {
				continue // a nil slice
			}
			if _, err := tx.Exec(ctx, part.sql, string(rows)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = conn.Exec(ctx, historyAnalyze) // the planner knows the tables at once
	}
	if err != nil {
		return fmt.Errorf("insert the history: %w", err)
	}
	return nil
}
