package cli

import (
	"jobtop/store"
	"jobtop/ui/text"
)

// jobJSON is a job as list prints it, one a line, and as part of show. The first
// fields are those of an incident report.
type jobJSON struct {
	ID            string  `json:"id"`
	Kind          string  `json:"kind"`
	SourceVersion *string `json:"source_version"`
	State         string  `json:"state"`
	Version       int64   `json:"version"`
	Attempt       int     `json:"attempt"`
	MaxAttempts   int     `json:"max_attempts"`
	StateAge      seconds `json:"state_age_seconds"` // since the last change of state
	ErrorCategory *string `json:"error_category"`
	ErrorDetail   *string `json:"error_detail"` // secrets masked; cut in lists
	ReceiptID     *string `json:"receipt_id"`   // also one that is only in a late report

	Verdict            string   `json:"verdict"`
	VerdictAttempt     *int     `json:"verdict_attempt"` // the one that decides the verdict
	VerdictEffectAge   *seconds `json:"verdict_effect_age_seconds"`
	ReceiptLate        bool     `json:"receipt_late"` // the job is not done by it
	ReceiptRecordedBy  *string  `json:"receipt_recorded_by"`
	ReceiptRecordedAge *seconds `json:"receipt_age_seconds"`

	StuckFor         *seconds `json:"stuck_seconds"`
	DueFor           seconds  `json:"due_seconds"` // negative while run_at lies ahead
	Worker           *string  `json:"worker"`
	LockToken        *string  `json:"lock_token"`
	ClaimedAge       *seconds `json:"claimed_age_seconds"`
	HeartbeatAge     *seconds `json:"heartbeat_age_seconds"`
	HeartbeatTimeout seconds  `json:"heartbeat_timeout_seconds"`
	Progress         *int64   `json:"progress"`
	ProgressAge      *seconds `json:"progress_age_seconds"`
	ProgressTimeout  *seconds `json:"progress_timeout_seconds"`
	EffectKey        string   `json:"effect_key"`
	EffectAge        *seconds `json:"effect_age_seconds"`
	CreatedAge       seconds  `json:"created_age_seconds"`
}

func newJobJSON(j store.Job) jobJSON {
	return jobJSON{
		ID: j.ID, Kind: j.Kind, SourceVersion: j.SourceVersion, State: j.State, Version: j.Version,
		Attempt: j.Attempt, MaxAttempts: j.MaxAttempts, StateAge: seconds(j.StateAge),
		ErrorCategory: masked(j.ErrorCategory), ErrorDetail: masked(j.ErrorDetail), ReceiptID: j.Evidence.ReceiptID,
		Verdict: j.Evidence.Verdict, VerdictAttempt: j.Evidence.Attempt, VerdictEffectAge: secondsOf(j.Evidence.EffectAge),
		ReceiptLate: j.Evidence.Late, ReceiptRecordedBy: j.Evidence.RecordedBy, ReceiptRecordedAge: secondsOf(j.Evidence.RecordedAge),
		StuckFor: secondsOf(j.StuckFor), DueFor: seconds(j.DueFor), Worker: j.Worker, LockToken: j.LockToken,
		ClaimedAge: secondsOf(j.ClaimedAge), HeartbeatAge: secondsOf(j.HeartbeatAge), HeartbeatTimeout: seconds(j.HeartbeatTimeout),
		Progress: j.Progress, ProgressAge: secondsOf(j.ProgressAge), ProgressTimeout: secondsOf(j.ProgressTimeout),
		EffectKey: j.EffectKey, EffectAge: secondsOf(j.EffectAge), CreatedAge: seconds(j.CreatedAge),
	}
}

// masked takes the secrets out of an error's text.
func masked(s *string) *string {
	if s == nil {
		return nil
	}
	m := text.Unicode.MaskText(*s)
	return &m
}

// receiptJSON is a receipt.
type receiptJSON struct {
	JobID       string  `json:"job_id"`
	Kind        string  `json:"kind"`
	ReceiptID   string  `json:"receipt_id"`
	Attempt     int     `json:"attempt"`
	RecordedBy  string  `json:"recorded_by"`
	ActionID    *string `json:"action_id"` // null: a worker recorded it
	RecordedAt  moment  `json:"recorded_at"`
	RecordedAge seconds `json:"recorded_age_seconds"`
}

func newReceiptJSON(r store.Receipt) receiptJSON {
	return receiptJSON{r.JobID, r.Kind, r.ReceiptID, r.Attempt, r.RecordedBy, r.ActionID, moment(r.RecordedAt), seconds(r.RecordedAge)}
}
