package actions

import (
	"fmt"
	"slices"
	"time"

	"jobtop/store"
)

// Verb is what an operator does to a job.
type Verb string

// The verbs.
const (
	VerbRequeue Verb = "requeue"
	VerbDone    Verb = "done"
	VerbDead    Verb = "dead"
	VerbHold    Verb = "hold"
)

// Confirmations that act asks for. The operator gives each by typing the job's id.
const (
	// MayHaveHappened confirms a requeue of an effect that is not known not to have happened.
	MayHaveHappened = "may_have_happened"
	// Stop confirms a hold of a job whose worker is alive.
	Stop = "stop"
)

// Asks is what a dialog must ask besides the reason.
type Asks struct {
	// Receipt: the provider's identifier. Suggested is one that the record already
	// holds, "" if none.
	Receipt   bool
	Suggested string
	// TypedID: the job's id must be typed.
	TypedID bool
	// Stop: the job's worker is alive and will be stopped.
	Stop bool
}

// Confirmations are what the operator has confirmed by answering.
func (a Asks) Confirmations() []string {
	switch {
	case a.Stop:
		return []string{Stop}
	case a.TypedID:
		return []string{MayHaveHappened}
	}
	return nil
}

// rules is what there is to know about one verb. Each verb has a file with its own.
type rules struct {
	verb   Verb
	target State
	title  string // "Requeue"
	past   string // "charge-1 was requeued"
	did    string // "bob requeued it"
	// cannot says why the verb does not apply to a job in a state without an edge.
	cannot func(State) string
	// preview says what will happen to a job, after "KIND ID goes from A to B".
	preview func(store.Job) string
	// warning says what can go wrong, "" if nothing can.
	warning func(store.Job) string
	asks    func(store.Job) Asks
	weighs  bool // it may be wrong where the effect happened after all
	undo    string
}

var verbs = []*rules{requeue, done, dead, hold}

// Verbs lists the verbs in the order in which jobtop shows them.
func Verbs() []Verb { return []Verb{VerbRequeue, VerbDone, VerbDead, VerbHold} }

// Known reports whether v is a verb.
func (v Verb) Known() bool { return slices.Contains(Verbs(), v) }

// Target is the state that the verb takes a job to; "" of an unknown verb.
func (v Verb) Target() State {
	if r := rulesOf(v); r != nil {
		return r.target
	}
	return ""
}

// Name is how sentences name a verb that could be used: in quotes, so that a front-end
// may put there whatever uses it, such as a key.
func (v Verb) Name() string { return `"` + string(v) + `"` }

// Title is the verb as a dialog's heading and button.
func (v Verb) Title() string {
	if r := rulesOf(v); r != nil {
		return r.title
	}
	return string(v)
}

func rulesOf(v Verb) *rules {
	for _, r := range verbs {
		if r.verb == v {
			return r
		}
	}
	return nil
}

// Unavailable says why a verb cannot be used on a job as it was seen; "" when it can.
// The database decides again, at the moment of the act.
func Unavailable(v Verb, job store.Job) string {
	r := rulesOf(v)
	from := State(job.State)
	switch {
	case r == nil:
		return fmt.Sprintf("there is no verb %q", v)
	case !from.Known():
		return fmt.Sprintf("its state %q is not one that this jobtop knows", job.State)
	case from == Done:
		return "it is done, and nothing leaves done"
	case from == r.target:
		return "it is " + in(from) + " already"
	case !HasEdge(from, r.target, Operator):
		return r.cannot(from)
	case alive(job) && v != VerbHold:
		return fmt.Sprintf("its worker is alive%s; only %s can stop it", lastSign(job), VerbHold.Name())
	}
	return ""
}

// Ask says what must be asked, besides the reason, before a verb is used on a job.
func Ask(v Verb, job store.Job) Asks {
	if r := rulesOf(v); r != nil {
		return r.asks(job)
	}
	return Asks{}
}

// Preview says in one sentence what a verb will do to a job.
func Preview(v Verb, job store.Job) string {
	r := rulesOf(v)
	if r == nil {
		return ""
	}
	return fmt.Sprintf("%s %s goes from %s to %s%s", job.Kind, job.ID, job.State, r.target, r.preview(job)+fenced(job))
}

// Warning says what could go wrong with a verb on a job, "" if there is nothing to warn of.
func Warning(v Verb, job store.Job) string {
	if r := rulesOf(v); r != nil {
		return r.warning(job)
	}
	return ""
}

// Weighs reports whether a verb may be wrong where the effect happened after all, so that
// jobs of which that is not known stand apart from the others.
func Weighs(v Verb) bool {
	r := rulesOf(v)
	return r != nil && r.weighs
}

// UndoHint says which verb leads back from what a verb did, or that none does.
func UndoHint(v Verb) string {
	if r := rulesOf(v); r != nil {
		return r.undo
	}
	return ""
}

// alive: a worker has the job and is within its limits.
func alive(job store.Job) bool { return State(job.State) == Running && job.StuckFor == nil }

func lastSign(job store.Job) string {
	if job.HeartbeatAge == nil {
		return ""
	}
	return fmt.Sprintf(" (heartbeat %s, limit %s)", ago(*job.HeartbeatAge), job.HeartbeatTimeout.Round(time.Second))
}

// in puts a state after "it is".
func in(s State) string {
	if s == Review {
		return "in review"
	}
	return string(s)
}

// fenced says what becomes of the worker of a running job, "" of any other job.
func fenced(job store.Job) string {
	if State(job.State) != Running {
		return ""
	}
	return "; " + workerOf(job) + " loses its lease, and what it still reports is kept as evidence"
}

// worker begins a sentence with the worker.
func worker(job store.Job) string {
	if name := workerOf(job); name != "its worker" {
		return "the worker " + name
	}
	return "its worker"
}

func workerOf(job store.Job) string {
	if job.Worker == nil || *job.Worker == "" {
		return "its worker"
	}
	return *job.Worker
}

// Uncertain: the record does not rule out that the effect happened.
func Uncertain(e store.Evidence) bool {
	return e.Verdict != store.VerdictDidNotHappen && e.Verdict != store.VerdictNeverStarted
}
