package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/theme"
)

// event is one line of a job's timeline.
type event struct {
	at   time.Time
	age  time.Duration
	what string // "attempt 1", "requeue"
	how  string // "outcome unknown", "applied"
	note string
	role theme.Role
	rank int // of events at one moment, the later one is the larger
}

// clock is when it was: the time of day for what is recent, and the day for the rest.
func (e event) clock() string {
	if e.age < 12*time.Hour {
		return e.at.UTC().Format("15:04:05")
	}
	return e.at.UTC().Format("2006-01-02 15:04")
}

// timeline puts a job's attempts, actions, late reports and receipt into one order,
// newest first. All times are the database's.
func timeline(d store.Detail) []event {
	events := []event{{at: d.CreatedAt, age: d.Job.CreatedAge, what: "enqueued"}}
	for _, a := range d.Attempts {
		events = append(events, attemptEvents(a, d.Job.EffectKey)...)
	}
	for _, a := range d.Actions {
		events = append(events, actionEvent(a))
	}
	for _, l := range d.LateReports {
		e := event{at: l.At, age: l.Age, what: "late report", rank: 4, role: theme.Warn}
		if l.Attempt != nil {
			e.what = fmt.Sprintf("attempt %d", *l.Attempt)
		}
		if l.ReceiptID != nil {
			e.how = "late: receipt " + *l.ReceiptID
		} else {
			e.how = "late: " + outcomeWords(orDash(l.Effect))
		}
		e.note = notes("by "+orDash(l.Worker), masked(l.ErrorCategory), nil)
		events = append(events, e)
	}
	if r := d.Receipt; r != nil {
		events = append(events, event{at: r.RecordedAt, age: r.RecordedAge, what: "receipt", how: r.ReceiptID, note: "recorded by " + r.RecordedBy, role: theme.Good, rank: 3})
	}
	slices.SortStableFunc(events, func(a, b event) int {
		if order := b.at.Compare(a.at); order != 0 {
			return order
		}
		return b.rank - a.rank
	})
	return events
}

func attemptEvents(a store.Attempt, effectKey string) []event {
	name := fmt.Sprintf("attempt %d", a.Attempt)
	note := "from " + a.ClaimedFrom
	if a.SourceVersion != nil {
		note += ", source " + *a.SourceVersion
	}
	if !a.RecordsIntent {
		note += ", records no intents"
	}
	events := []event{{at: a.ClaimedAt, age: a.ClaimedAge, what: name, how: "claimed by " + a.Worker, note: note, rank: 1}}
	if a.EffectAt != nil {
		events = append(events, event{at: *a.EffectAt, age: *a.EffectAge, what: name, how: "intent", note: "effect key " + effectKey, rank: 2})
	}
	if a.FinishedAt != nil {
		outcome := orDash(a.Outcome)
		e := event{at: *a.FinishedAt, age: *a.FinishedAge, what: name, how: outcomeWords(outcome), rank: 3}
		e.note = notes("to "+orDash(a.ToState), masked(a.ErrorCategory), nil)
		switch outcome {
		case "unknown":
			e.role = theme.Warn
		case "done":
			e.role = theme.Good
		}
		events = append(events, e)
	}
	return events
}

// outcomeWords puts an attempt's outcome into words.
func outcomeWords(outcome string) string {
	switch outcome {
	case "not_begun":
		return "given up before it began"
	case "refused":
		return "refused by the provider"
	case "unknown":
		return "outcome unknown"
	case "fenced":
		return "taken from its worker"
	}
	return outcome
}

func actionEvent(a store.Action) event {
	e := event{at: a.At, age: a.Age, what: a.Verb, how: actionOutcome(a), rank: 5, role: theme.Info}
	by := "by " + a.Operator
	if a.DBRole != a.Operator {
		by += " (role " + a.DBRole + ")"
	}
	e.note = notes(by, a.Reason, judgement(a))
	if a.Outcome == "refused" {
		e.role = theme.Warn
	}
	return e
}

// actionOutcome says what became of an action.
func actionOutcome(a store.Action) string {
	switch {
	case a.Outcome == "refused" && a.Refusal != nil:
		return "refused: " + strings.ReplaceAll(*a.Refusal, "_", " ")
	case a.Outcome == "void":
		return "did not happen"
	case a.Outcome == "applied" && a.FromState != nil && a.ToState != nil:
		return *a.FromState + " to " + *a.ToState
	}
	return a.Outcome
}

// judgement says what an operator took upon themselves with an action.
func judgement(a store.Action) *string {
	if a.Outcome != "applied" || !slices.Contains(a.Confirmations, actions.MayHaveHappened) || a.Attempt == nil {
		return nil
	}
	s := fmt.Sprintf("judged attempt %d not to have happened", *a.Attempt)
	return &s
}

// notes joins the parts that are there.
func notes(first string, rest ...*string) string {
	for _, s := range rest {
		if s != nil && *s != "" {
			first += "; " + *s
		}
	}
	return first
}
