package cli

import (
	"encoding/json"

	"jobtop/actions"
	"jobtop/store"
)

// storyJSON is what show prints.
type storyJSON struct {
	Job         jobJSON          `json:"job"`
	CreatedAt   moment           `json:"created_at"`
	ChangedAt   moment           `json:"changed_at"`
	ChangedBy   *string          `json:"changed_by"`  // null: as it was enqueued
	ChangedHow  *string          `json:"changed_how"` // a verb, direct, claim, or an attempt's outcome
	Headline    string           `json:"headline"`
	Reading     []string         `json:"reading"`
	Receipt     *receiptJSON     `json:"receipt"`
	Attempts    []attemptJSON    `json:"attempts"` // newest first, as the next two; at most 500 each
	Actions     []actionJSON     `json:"actions"`
	LateReports []lateReportJSON `json:"late_reports"`
	Counts      countsJSON       `json:"counts"` // of all that there are
}

type storyWithPayloadJSON struct {
	storyJSON
	Payload json.RawMessage `json:"payload"` // secrets masked; null where there is none
}

type countsJSON struct {
	Attempts    int `json:"attempts"`
	Actions     int `json:"actions"`
	LateReports int `json:"late_reports"`
}

type attemptJSON struct {
	Attempt       int      `json:"attempt"`
	LockToken     string   `json:"lock_token"`
	Worker        string   `json:"worker"`
	SourceVersion *string  `json:"source_version"`
	ClaimedFrom   string   `json:"claimed_from"`
	ClaimedAt     moment   `json:"claimed_at"`
	ClaimedAge    seconds  `json:"claimed_age_seconds"`
	RecordsIntent bool     `json:"records_intent"`
	EffectAt      *moment  `json:"effect_at"`
	EffectAge     *seconds `json:"effect_age_seconds"`
	HeartbeatAt   *moment  `json:"heartbeat_at"` // null while it runs
	FinishedAt    *moment  `json:"finished_at"`
	FinishedAge   *seconds `json:"finished_age_seconds"`
	Outcome       *string  `json:"outcome"` // done, not_begun, refused, unknown, fenced; null while it runs
	ToState       *string  `json:"to_state"`
	ErrorCategory *string  `json:"error_category"`
	ErrorDetail   *string  `json:"error_detail"`
}

type lateReportJSON struct {
	Attempt       *int    `json:"attempt"`
	LockToken     string  `json:"lock_token"`
	Worker        *string `json:"worker"`
	ReceiptID     *string `json:"receipt_id"`
	Effect        *string `json:"effect"`
	ErrorCategory *string `json:"error_category"`
	ErrorDetail   *string `json:"error_detail"`
	At            moment  `json:"at"`
	Age           seconds `json:"age_seconds"`
}

// actionJSON is an action, in show and in actions.
type actionJSON struct {
	ActionID      string          `json:"action_id"`
	At            moment          `json:"at"`
	Age           seconds         `json:"age_seconds"`
	Verb          string          `json:"verb"` // requeue, done, dead, hold, pause, resume, direct, retention
	JobID         *string         `json:"job_id"`
	Kind          *string         `json:"kind"`
	FromState     *string         `json:"from_state"`
	ToState       *string         `json:"to_state"`
	Outcome       string          `json:"outcome"` // applied, refused, void
	Refusal       *string         `json:"refusal"`
	Operator      string          `json:"operator"` // claimed
	DBRole        string          `json:"db_role"`  // certain
	Client        *string         `json:"client"`
	Reason        *string         `json:"reason"`
	ReceiptID     *string         `json:"receipt_id"`
	Confirmations []string        `json:"confirmations"`
	SeenState     *string         `json:"seen_state"`
	SeenVersion   *int64          `json:"seen_version"`
	Version       *int64          `json:"version"` // that it made
	Attempt       *int            `json:"attempt"`
	LockToken     *string         `json:"lock_token"`
	Delay         *seconds        `json:"delay_seconds"`
	Lookup        json.RawMessage `json:"lookup"`
}

func newActionJSON(a store.Action) actionJSON {
	lookup := a.Lookup
	if lookup == nil {
		lookup = json.RawMessage("null")
	}
	confirmations := a.Confirmations
	if confirmations == nil {
		confirmations = []string{}
	}
	return actionJSON{
		ActionID: a.ID, At: moment(a.At), Age: seconds(a.Age), Verb: a.Verb, JobID: a.JobID, Kind: a.Kind, FromState: a.FromState, ToState: a.ToState,
		Outcome: a.Outcome, Refusal: a.Refusal, Operator: a.Operator, DBRole: a.DBRole, Client: a.Client, Reason: a.Reason, ReceiptID: a.ReceiptID,
		Confirmations: confirmations, SeenState: a.SeenState, SeenVersion: a.SeenVersion, Version: a.Version, Attempt: a.Attempt, LockToken: a.LockToken,
		Delay: secondsOf(a.Delay), Lookup: lookup,
	}
}

func newStoryJSON(d store.Detail) storyJSON {
	s := storyJSON{
		Job: newJobJSON(d.Job), CreatedAt: moment(d.CreatedAt), ChangedAt: moment(d.ChangedAt), ChangedBy: d.ChangedBy, ChangedHow: d.ChangedHow,
		Headline: actions.Headline(d.Job.Evidence), Reading: actions.ReadingOf(d),
		Attempts: []attemptJSON{}, Actions: []actionJSON{}, LateReports: []lateReportJSON{},
		Counts: countsJSON{d.Counts.Attempts, d.Counts.Actions, d.Counts.LateReports},
	}
	if d.Receipt != nil {
		r := newReceiptJSON(*d.Receipt)
		s.Receipt = &r
	}
	for _, a := range d.Attempts {
		s.Attempts = append(s.Attempts, attemptJSON{
			Attempt: a.Attempt, LockToken: a.LockToken, Worker: a.Worker, SourceVersion: a.SourceVersion, ClaimedFrom: a.ClaimedFrom,
			ClaimedAt: moment(a.ClaimedAt), ClaimedAge: seconds(a.ClaimedAge), RecordsIntent: a.RecordsIntent,
			EffectAt: momentOf(a.EffectAt), EffectAge: secondsOf(a.EffectAge), HeartbeatAt: momentOf(a.HeartbeatAt),
			FinishedAt: momentOf(a.FinishedAt), FinishedAge: secondsOf(a.FinishedAge), Outcome: a.Outcome, ToState: a.ToState,
			ErrorCategory: masked(a.ErrorCategory), ErrorDetail: masked(a.ErrorDetail),
		})
	}
	for _, a := range d.Actions {
		s.Actions = append(s.Actions, newActionJSON(a))
	}
	for _, l := range d.LateReports {
		s.LateReports = append(s.LateReports, lateReportJSON{
			Attempt: l.Attempt, LockToken: l.LockToken, Worker: l.Worker, ReceiptID: l.ReceiptID, Effect: l.Effect,
			ErrorCategory: masked(l.ErrorCategory), ErrorDetail: masked(l.ErrorDetail), At: moment(l.At), Age: seconds(l.Age),
		})
	}
	return s
}
