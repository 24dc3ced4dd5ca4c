package actions

import (
	"slices"

	"jobtop/store"
)

// What ought to be: the rules of the design, written a second time, in Go, without a
// look at the SQL or at edges.go.

// modelJob is one job, and all that is recorded of it. It is compared field by field
// with what the database holds.
type modelJob struct {
	ID          string
	Kind        string
	State       string
	Version     int64
	Attempt     int
	MaxAttempts int
	Token       string
	Began       bool
	Receipt     *modelReceipt
	Attempts    []modelAttempt
	Late        []modelLate
	Actions     []modelAction
	Direct      int // changes by hand

	silent bool // past its heartbeat's limit, should it run
}

type modelReceipt struct {
	ID, By, Action string
	Attempt        int
}

type modelAttempt struct {
	Token, Worker  string
	Intents, Began bool
	Outcome, To    string

	taken string // the receipt that another job has
}

type modelLate struct{ Token, Receipt, Effect string }

type modelAction struct {
	ID, Verb, Outcome, Refusal string
	Version                    int64
}

// model is a set of jobs, and which kinds are paused.
type model struct {
	jobs   map[string]*modelJob
	paused map[string]bool
	acts   map[string]modelAction // by id, over all jobs
}

func (j *modelJob) to(state string) {
	j.State, j.Version, j.Token = state, j.Version+1, ""
	if state == "pending" {
		j.MaxAttempts = max(j.MaxAttempts, j.Attempt+1)
	}
}

func (j *modelJob) attempt() *modelAttempt { return &j.Attempts[j.Attempt-1] }

func (j *modelJob) endAttempt(outcome, to string) {
	a := j.attempt()
	a.Outcome, a.To = outcome, to
}

// holder is the job of a kind that has a receipt, nil if none.
func (m *model) holder(kind, receipt string) *modelJob {
	for _, j := range m.jobs {
		if j.Kind == kind && j.Receipt != nil && j.Receipt.ID == receipt {
			return j
		}
	}
	return nil
}

// proof is the first late receipt that is not another job's.
func (m *model) proof(j *modelJob) string {
	for _, l := range j.Late {
		if l.Receipt != "" && m.holder(j.Kind, l.Receipt) == nil {
			return l.Receipt
		}
	}
	return ""
}

func (m *model) verdict(j *modelJob) string {
	if j.Receipt != nil || m.proof(j) != "" {
		return store.VerdictHappened
	}
	open, unknown, refused := false, false, false
	for _, a := range j.Attempts {
		no := a.Outcome == "refused" || slices.ContainsFunc(j.Late, func(l modelLate) bool { return l.Token == a.Token && l.Effect == "refused" })
		switch {
		case no:
			refused = true
		case a.Began:
			open = true
		case !a.Intents && a.Outcome != "not_begun":
			unknown = true
		}
	}
	switch {
	case open:
		return store.VerdictMayHaveHappened
	case unknown:
		return store.VerdictNotKnown
	case refused:
		return store.VerdictDidNotHappen
	}
	return store.VerdictNeverStarted
}

// modelVerbs says where a verb leads to, and from where.
var modelVerbs = map[Verb]struct {
	to   string
	from []string
}{
	VerbRequeue: {"pending", []string{"running", "failed", "review", "dead"}},
	VerbDone:    {"done", []string{"running", "pending", "failed", "review", "dead"}},
	VerbDead:    {"dead", []string{"running", "pending", "failed", "review"}},
	VerbHold:    {"review", []string{"running", "pending", "failed"}},
}

// byHand are the changes of state that the guard lets anybody make; those to done only
// with a receipt, and those to running only with a token.
var byHand = map[string][]string{
	"pending": {"review", "dead"},
	"running": {"pending", "failed", "review", "dead"},
	"failed":  {"pending", "review", "dead"},
	"review":  {"pending", "dead"},
	"dead":    {"pending"},
}

// refusal is why an order is refused, "" when it is not.
func (m *model) refusal(o Order) string {
	j := m.jobs[o.JobID]
	confirmed := func(c string) bool { return slices.Contains(o.Confirmations, c) }
	switch holder := m.holder(j.Kind, o.ReceiptID); {
	case j.State != string(o.SeenState) || j.Version != o.SeenVersion:
		return "changed"
	case !slices.Contains(modelVerbs[o.Verb].from, j.State):
		return "no_edge"
	case j.State == "running" && !j.silent && (o.Verb != VerbHold || !confirmed(Stop)):
		return "alive"
	case o.Verb == VerbDone && holder != nil:
		return "receipt_conflict"
	case o.Verb == VerbRequeue && !confirmed(MayHaveHappened) &&
		slices.Contains([]string{store.VerdictHappened, store.VerdictMayHaveHappened, store.VerdictNotKnown}, m.verdict(j)):
		return "uncertain"
	}
	return ""
}

// act is what an order does when it arrives, and the action that then stands.
func (m *model) act(o Order, operator string) modelAction {
	if a, there := m.acts[o.ActionID]; there {
		return a
	}
	j := m.jobs[o.JobID]
	a := modelAction{ID: o.ActionID, Verb: string(o.Verb), Outcome: "applied", Refusal: m.refusal(o)}
	if a.Refusal != "" {
		a.Outcome = "refused"
	} else {
		to := modelVerbs[o.Verb].to
		if o.Verb == VerbDone {
			j.Receipt = &modelReceipt{o.ReceiptID, operator, o.ActionID, j.Attempt}
		}
		if j.State == "running" {
			j.endAttempt("fenced", to)
		}
		j.to(to)
		a.Version = j.Version
	}
	m.write(j, a)
	return a
}

// settle is what a settle brings: the action that stands, or one that never will.
func (m *model) settle(o Order) modelAction {
	if _, there := m.acts[o.ActionID]; !there {
		m.write(m.jobs[o.JobID], modelAction{ID: o.ActionID, Verb: string(o.Verb), Outcome: "void"})
	}
	return m.acts[o.ActionID]
}

func (m *model) write(j *modelJob, a modelAction) {
	m.acts[a.ID] = a
	j.Actions = append(j.Actions, a)
}

// claimable are the jobs of some kinds that a claim may take.
func (m *model) claimable(kinds []string) map[string]bool {
	ids := map[string]bool{}
	for id, j := range m.jobs {
		if (j.State == "pending" || j.State == "failed") && slices.Contains(kinds, j.Kind) && !m.paused[j.Kind] {
			ids[id] = true
		}
	}
	return ids
}

func (m *model) claimed(id, token, worker string, intents bool) {
	j := m.jobs[id]
	j.to("running")
	j.Token, j.Attempt, j.Began, j.silent = token, j.Attempt+1, false, false
	j.Attempts = append(j.Attempts, modelAttempt{Token: token, Worker: worker, Intents: intents})
}

func (m *model) heartbeat(id, token string) bool {
	j := m.jobs[id]
	if j.Token != token {
		return false
	}
	j.silent = false
	return true
}

func (m *model) begin(id, token string) (answer, receipt string) {
	j := m.jobs[id]
	if j.Token != token {
		return "lease_lost", ""
	}
	if receipt := m.proof(j); receipt != "" {
		return "happened", receipt
	}
	j.Began, j.attempt().Began, j.attempt().Intents = true, true, true
	return "begin", ""
}

func (m *model) complete(id, token, receipt string) string {
	j := m.jobs[id]
	switch {
	case receipt == "":
		return "receipt_invalid"
	case j.Token != token:
		return m.late(j, modelLate{Token: token, Receipt: receipt})
	case m.holder(j.Kind, receipt) != nil:
		j.attempt().taken = receipt
		j.endAttempt("unknown", "review")
		j.to("review")
		return "review"
	}
	j.Receipt = &modelReceipt{ID: receipt, By: j.attempt().Worker, Attempt: j.Attempt}
	j.endAttempt("done", "done")
	j.to("done")
	return "done"
}

func (m *model) fail(id, token, effect string, retry bool) string {
	j := m.jobs[id]
	if j.Token != token {
		return m.late(j, modelLate{Token: token, Effect: effect})
	}
	if effect == "not_begun" && j.Began {
		effect = "unknown"
	}
	to := "dead"
	if effect == "unknown" {
		to = "review"
	} else if retry && j.Attempt < j.MaxAttempts {
		to = "failed"
	}
	j.endAttempt(effect, to)
	j.to(to)
	return to
}

// late: the token holds no longer. What it has said before it says again; all else is
// kept.
func (m *model) late(j *modelJob, l modelLate) string {
	for i, a := range j.Attempts {
		if a.Token != l.Token {
			continue
		}
		switch {
		case l.Receipt != "" && a.Outcome == "done" && j.Receipt.ID == l.Receipt && j.Receipt.Attempt == i+1,
			l.Receipt != "" && a.Outcome == "unknown" && a.taken == l.Receipt,
			l.Effect != "" && a.Outcome == l.Effect,
			l.Effect == "not_begun" && a.Outcome == "unknown" && a.Began:
			return a.To
		}
	}
	if !slices.Contains(j.Late, l) {
		j.Late = append(j.Late, l)
	}
	return "lease_lost"
}
