package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"jobtop/store/sandbox"
)

// past puts a history together, job by job. A life is told forward, from enqueue on, by
// steps that change the rows as the functions of the schema would have.
type past struct {
	dice     *rand.Rand
	scenario Scenario // of before the start: no job is one of the first
	history  sandbox.History
	effects  map[string]PastEffect // what the provider really did, by key
}

// operatorRole is the database role of the operators.
const operatorRole = "operator"

// life is one job of the past, at a moment of it.
type life struct {
	past    *past
	kind    Kind
	at      time.Duration // how long ago
	job     sandbox.PastJob
	open    *sandbox.PastAttempt // the attempt that runs
	ended   []sandbox.PastAttempt
	receipt *sandbox.PastReceipt
	actions []sandbox.PastAction
	late    []sandbox.PastLateReport
	acted   *time.Duration // when the provider acted
}

// enqueue begins a life that long ago.
func (p *past) enqueue(k Kind, number int, ago time.Duration) *life {
	l := &life{past: p, kind: k, at: ago}
	l.job = sandbox.PastJob{
		ID: k.jobID(number), EffectKey: k.jobID(number), Kind: k.Name, State: "pending", Version: 1, MaxAttempts: k.MaxAttempts,
		HeartbeatTimeout: k.HeartbeatTimeout, Payload: payload(k, number, p.dice), Run: ago, Created: ago, Changed: ago,
	}
	if k.ProgressTimeout > 0 {
		l.job.ProgressTimeout = &k.ProgressTimeout
	}
	return l
}

// after lets time pass.
func (l *life) after(d time.Duration) *life {
	l.at -= d
	return l
}

// until lets time pass up to a moment.
func (l *life) until(ago time.Duration) *life {
	if ago > l.at {
		panic(fmt.Sprintf("demo: the life of %s would go back", l.job.ID))
	}
	l.at = ago
	return l
}

func (l *life) claim(worker, version string) *life {
	l.mustBe("pending", "failed")
	token := l.past.uuid()
	at := l.at
	l.open = &sandbox.PastAttempt{
		JobID: l.job.ID, Attempt: l.job.Attempt + 1, LockToken: token, Worker: worker, SourceVersion: &version,
		ClaimedFrom: l.job.State, Claimed: at, RecordsIntent: l.kind.RecordsIntent,
	}
	l.job.Attempt++
	l.job.LockToken, l.job.Worker, l.job.SourceVersion = &token, &worker, &version
	l.job.Claimed, l.job.Heartbeat = &at, &at
	l.job.Progress, l.job.Progressed, l.job.Effect, l.job.ErrorCategory, l.job.ErrorDetail = nil, nil, nil, nil, nil
	l.change("running")
	return l
}

// beat is a sign of life, with progress unless it is 0.
func (l *life) beat(progress int64) *life {
	l.mustBe("running")
	at := l.at
	l.job.Heartbeat = &at
	if progress > 0 {
		l.job.Progress, l.job.Progressed = &progress, &at
	}
	return l
}

// intent records it, where workers of the kind do.
func (l *life) intent() *life {
	l.mustBe("running")
	if l.kind.RecordsIntent {
		at := l.at
		l.job.Effect = &at
	}
	return l
}

// happens: the provider acts, whether or not anybody here learns of it.
func (l *life) happens() *life {
	at := l.at
	l.acted = &at
	return l
}

// done: the provider acted and the worker completes.
func (l *life) done() {
	l.happens()
	l.prove(l.job.Attempt, *l.job.Worker, nil)
	l.end("done", "done", "", "")
	l.change("done")
}

// fail ends an attempt as the function of that name does.
func (l *life) fail(effect string, retry bool, category, detail string) {
	to := "review"
	switch {
	case effect == "unknown":
	case retry && l.job.Attempt < l.job.MaxAttempts:
		to = "failed"
	default:
		to = "dead"
	}
	l.end(effect, to, category, detail)
	l.job.ErrorCategory, l.job.ErrorDetail = &category, &detail
	if to == "failed" {
		l.job.Run = l.at - min(300*time.Second, 3*time.Second<<l.job.Attempt)
	}
	l.change(to)
}

// act is a verb that was applied, with what the caller fills in about it.
func (l *life) act(verb, operator, reason string, fill ...func(*sandbox.PastAction)) {
	action := l.action(verb, operator, reason, fill)
	to, version := target(verb, action.ToState), l.job.Version+1
	action.Outcome, action.ToState, action.Version = "applied", &to, &version
	if to == "done" && l.receipt == nil {
		l.prove(l.job.Attempt, operator, action)
	}
	if l.job.State == "running" {
		l.end("fenced", to, "", "")
	}
	l.actions = append(l.actions, *action)
	if to == "pending" {
		l.job.MaxAttempts = max(l.job.MaxAttempts, l.job.Attempt+1)
		l.job.Run = l.at
		if action.Delay != nil {
			l.job.Run -= *action.Delay
		}
		l.job.Progress, l.job.Progressed, l.job.ErrorCategory, l.job.ErrorDetail = nil, nil, nil, nil
	}
	l.change(to)
}

// refused is a verb that was not applied.
func (l *life) refused(verb, operator, reason, refusal string, fill ...func(*sandbox.PastAction)) {
	action := l.action(verb, operator, reason, fill)
	to := target(verb, nil)
	action.Outcome, action.ToState, action.Refusal = "refused", &to, &refusal
	l.actions = append(l.actions, *action)
}

// reports is what a worker whose attempt was ended by an operator still had to say.
func (l *life) reports(receipt bool, category, detail string) {
	from := l.ended[len(l.ended)-1]
	report := sandbox.PastLateReport{JobID: l.job.ID, Attempt: &from.Attempt, LockToken: from.LockToken, Worker: &from.Worker, At: l.at}
	if receipt {
		id := l.receiptID()
		l.happens()
		report.ReceiptID = &id
	} else {
		effect := "refused"
		report.Effect, report.ErrorCategory, report.ErrorDetail = &effect, &category, &detail
	}
	l.late = append(l.late, report)
}

// end ends the attempt that runs.
func (l *life) end(outcome, to, category, detail string) {
	l.mustBe("running")
	at := l.at
	l.open.Finished, l.open.Effect, l.open.Heartbeat, l.open.Outcome, l.open.ToState = &at, l.job.Effect, l.job.Heartbeat, &outcome, &to
	if category != "" {
		l.open.ErrorCategory, l.open.ErrorDetail = &category, &detail
	}
	l.ended = append(l.ended, *l.open)
	l.open = nil
}

// prove writes the receipt.
func (l *life) prove(attempt int, by string, action *sandbox.PastAction) {
	l.receipt = &sandbox.PastReceipt{
		JobID: l.job.ID, Kind: l.job.Kind, ReceiptID: l.receiptID(), Attempt: attempt, RecordedBy: by, Recorded: l.at,
	}
	if action != nil {
		l.receipt.ActionID, l.receipt.ReceiptID = &action.ActionID, *action.ReceiptID
	}
}

func (l *life) receiptID() string {
	_, number, _ := parseID(l.job.ID)
	return l.kind.receiptID(number)
}

func (l *life) change(to string) {
	l.job.State = to
	l.job.Version++
	l.job.Changed = l.at
	if to != "running" {
		l.job.LockToken = nil
	}
}

func (l *life) mustBe(states ...string) {
	for _, state := range states {
		if l.job.State == state {
			return
		}
	}
	panic(fmt.Sprintf("demo: %s of the past is %s where it must be one of %v", l.job.ID, l.job.State, states))
}

// action begins an action on the job as it is.
func (l *life) action(verb, operator, reason string, fill []func(*sandbox.PastAction)) *sandbox.PastAction {
	client, job := "jobtop", l.job
	a := &sandbox.PastAction{
		ActionID: l.past.uuid(), Verb: verb, JobID: &job.ID, Kind: &job.Kind, FromState: &job.State, SeenState: &job.State,
		SeenVersion: &job.Version, Attempt: &job.Attempt, LockToken: job.LockToken, Operator: operator, DBRole: operatorRole,
		Client: &client, Reason: &reason, At: l.at,
	}
	for _, f := range fill {
		f(a)
	}
	return a
}

// target is the state that a verb leads to; direct changes name their own.
func target(verb string, named *string) string {
	switch {
	case named != nil:
		return *named
	case verb == "requeue":
		return "pending"
	case verb == "hold":
		return "review"
	}
	return verb
}

// keep adds the life to the history.
func (l *life) keep() {
	h := &l.past.history
	h.Jobs = append(h.Jobs, l.job)
	h.Attempts = append(h.Attempts, l.ended...)
	if l.open != nil {
		h.Attempts = append(h.Attempts, *l.open)
	}
	if l.receipt != nil {
		h.Receipts = append(h.Receipts, *l.receipt)
	}
	h.Actions = append(h.Actions, l.actions...)
	h.LateReports = append(h.LateReports, l.late...)
	if l.acted != nil {
		l.past.effects[l.job.EffectKey] = PastEffect{ReceiptID: l.receiptID(), Ago: *l.acted}
	}
}

// uuid is a random one of this history.
func (p *past) uuid() string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(p.dice.Uint32())
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}
