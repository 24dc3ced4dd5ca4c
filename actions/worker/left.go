package worker

import (
	"fmt"
	"log/slog"
	"strings"
)

// LeftBehindError says what a worker that had to end could not record. The jobs stay
// running in the record until an operator acts on them.
type LeftBehindError struct {
	// Reports ended here and could not be recorded.
	Reports []Unrecorded
	// Running had not ended. Those that had begun their effect may still have caused it.
	Running []Unrecorded
	// Claims are the lock tokens of claims that were never answered: for jobs that they may
	// have taken no handler ran.
	Claims []string
}

// Unrecorded is an attempt whose end is not in the record.
type Unrecorded struct {
	JobID     string
	Attempt   int
	LockToken string
	ReceiptID string // the effect happened; empty: see Effect
	Effect    string // what is known of the effect without a receipt, one of store's Effect constants
}

func (u Unrecorded) String() string {
	s := fmt.Sprintf("job %q, attempt %d, token %s: ", u.JobID, u.Attempt, u.LockToken)
	if u.ReceiptID != "" {
		return s + fmt.Sprintf("receipt %q", u.ReceiptID)
	}
	return s + "effect " + u.Effect
}

func (e *LeftBehindError) Error() string {
	var lines []string
	for _, u := range e.Reports {
		lines = append(lines, "not recorded: "+u.String())
	}
	for _, u := range e.Running {
		lines = append(lines, "not ended: "+u.String())
	}
	for _, token := range e.Claims {
		lines = append(lines, "a claim was never answered: token "+token)
	}
	return "the worker ended before everything was recorded; the jobs show as stuck in jobtop, where a receipt is recorded with the verb done\n" +
		strings.Join(lines, "\n")
}

// LogValue shows the whole of it in a structured log.
func (e *LeftBehindError) LogValue() slog.Value {
	return slog.GroupValue(slog.Any("reports", e.Reports), slog.Any("running", e.Running), slog.Any("claims", e.Claims))
}

func (e *LeftBehindError) orNil() error {
	if len(e.Reports) == 0 && len(e.Running) == 0 && len(e.Claims) == 0 {
		return nil
	}
	return e
}

func (w *worker) leaveReport(job *Job, o outcome) {
	u := Unrecorded{JobID: job.ID, Attempt: job.Attempt, LockToken: job.token, ReceiptID: o.receipt.ID}
	if o.failure != nil {
		u.Effect = o.failure.Effect
	}
	w.Log.Error("the worker ends, and what came of a job could not be recorded", "job", u.JobID, "attempt", u.Attempt, "token", u.LockToken,
		"receipt", u.ReceiptID, "effect", u.Effect)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left.Reports = append(w.left.Reports, u)
}

func (w *worker) leaveRunning(job *Job) {
	u := Unrecorded{JobID: job.ID, Attempt: job.Attempt, LockToken: job.token, Effect: job.effectSoFar()}
	w.Log.Error("the worker ends, and a job's handler has not", "job", u.JobID, "attempt", u.Attempt, "token", u.LockToken, "effect", u.Effect)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left.Running = append(w.left.Running, u)
}

func (w *worker) leaveClaim(token string) {
	w.Log.Error("the worker ends, and a claim was never answered", "token", token)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left.Claims = append(w.left.Claims, token)
}
