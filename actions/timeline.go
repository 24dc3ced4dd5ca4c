package actions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"jobtop/store"
)

// Event is one entry of a job's story, in words. What people and workers wrote stands in
// it as it was written, and has to be masked and made safe before it is shown.
type Event struct {
	At  time.Time // the database's clock, for showing
	Age time.Duration
	// Subject is what the event is about: "attempt 2", "requeue", "late report".
	Subject string
	What    string // "claimed by w-7", "outcome unknown"
	Note    string // the rest, "" if there is none
	// After is how long after its claim something happened to an attempt; nil of others.
	After *time.Duration
	// Silent: nothing was heard since, and the job is past its limit.
	Silent bool
	Weight Weight

	rank int // of events at one moment, the later one is the larger
}

// Weight is how much an event matters to whoever reads the story.
type Weight uint8

// The weights.
const (
	Ordinary      Weight = iota
	Happened             // the effect is proven
	Doubtful             // it leaves open whether the effect happened, or should not have been
	Silence              // a sign of life that no other followed
	ByHand               // an operator's doing
	WithoutEffect        // what changed nothing
)

// Timeline is a job's attempts, actions, late reports and receipt as one story, newest
// first. It begins with the job's being enqueued where all its attempts were read.
func Timeline(d store.Detail) []Event {
	var events []Event
	if len(d.Attempts) >= d.Counts.Attempts {
		events = append(events, Event{At: d.CreatedAt, Age: d.Job.CreatedAge, Subject: "enqueued", What: "as " + d.Job.Kind})
	}
	for _, a := range d.Attempts {
		events = append(events, attemptEvents(a, d.Job)...)
	}
	if r := d.Receipt; r != nil {
		events = append(events, Event{At: r.RecordedAt, Age: r.RecordedAge, Subject: "receipt", What: r.ReceiptID, Note: "recorded by " + r.RecordedBy, Weight: Happened, rank: 5})
	}
	for _, a := range d.Actions {
		events = append(events, actionEvent(a))
	}
	for _, l := range d.LateReports {
		events = append(events, lateEvent(l))
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.rank, a.rank)) })
	return events
}

func attemptEvents(a store.Attempt, job store.Job) []Event {
	subject := fmt.Sprintf("attempt %d", a.Attempt)
	since := func(at time.Time) *time.Duration {
		d := at.Sub(a.ClaimedAt)
		return &d
	}
	note := "from " + a.ClaimedFrom
	if a.SourceVersion != nil {
		note += ", source " + *a.SourceVersion
	}
	if !a.RecordsIntent {
		note += ", records no intents"
	}
	events := []Event{{At: a.ClaimedAt, Age: a.ClaimedAge, Subject: subject, What: "claimed by " + a.Worker, Note: note, rank: 1}}
	if a.EffectAt != nil && a.EffectAge != nil {
		events = append(events, Event{At: *a.EffectAt, Age: *a.EffectAge, Subject: subject, What: "intent", Note: "effect key " + job.EffectKey,
			After: since(*a.EffectAt), Weight: Doubtful, rank: 2})
	}
	switch {
	case a.FinishedAt != nil && a.FinishedAge != nil:
		events = append(events, Event{At: *a.FinishedAt, Age: *a.FinishedAge, Subject: subject, What: OutcomeWords(str(a.Outcome)), Note: ending(a),
			After: since(*a.FinishedAt), Weight: outcomeWeight(str(a.Outcome)), rank: 4})
	case job.HeartbeatAge != nil && a.Attempt == job.Attempt && State(job.State) == Running:
		// Its heartbeat is in the job, and only its age is known.
		sign := Event{At: a.ClaimedAt.Add(a.ClaimedAge - *job.HeartbeatAge), Age: *job.HeartbeatAge, Subject: subject, What: "last sign of life", rank: 3}
		if sign.Silent = job.StuckFor != nil; sign.Silent {
			sign.Weight = Silence
		}
		events = append(events, sign)
	}
	return events
}

// ending is what else there is to say about the end of an attempt.
func ending(a store.Attempt) string {
	var parts []string
	if to := str(a.ToState); to != "" && to != str(a.Outcome) {
		parts = append(parts, "to "+to)
	}
	if a.HeartbeatAt != nil && a.FinishedAt.Sub(*a.HeartbeatAt) >= time.Second {
		parts = append(parts, "last heard "+span(a.FinishedAt.Sub(*a.HeartbeatAt))+" before")
	}
	if failure := failureWords(a.ErrorCategory, a.ErrorDetail); failure != "" {
		parts = append(parts, failure)
	}
	return strings.Join(parts, "; ")
}

// failureWords are an error's category and the first line of its detail.
func failureWords(category, detail *string) string {
	if category == nil || detail == nil {
		return str(category)
	}
	first, _, _ := strings.Cut(*detail, "\n")
	return *category + ": " + first
}

// OutcomeWords puts an attempt's outcome into words; anything else stays as it is.
func OutcomeWords(outcome string) string {
	switch outcome {
	case "":
		return "ended"
	case "not_begun":
		return "gave up before the effect began"
	case "refused":
		return "refused by the provider"
	case "unknown":
		return "outcome unknown"
	case "fenced":
		return "taken from its worker"
	}
	return outcome
}

func outcomeWeight(outcome string) Weight {
	switch outcome {
	case "done":
		return Happened
	case "unknown":
		return Doubtful
	}
	return Ordinary
}

func actionEvent(a store.Action) Event {
	by := "by " + a.Operator
	if a.DBRole != "" && a.DBRole != a.Operator {
		by += " (role " + a.DBRole + ")"
	}
	parts := []string{by}
	e := Event{At: a.At, Age: a.Age, Subject: a.Verb, What: ActionOutcome(a), Weight: ByHand, rank: 6}
	switch {
	case a.Outcome == "refused":
		e.Weight = WithoutEffect
	case a.Outcome == "void":
		e.Weight = WithoutEffect
		if a.Reason == nil { // settle gives one that says it
			parts = append(parts, "its answer was lost")
		}
	case a.Verb == "direct":
		e.Weight = Doubtful
		parts[0] = "by hand, past jobtop, " + by
	}
	if a.Reason != nil && *a.Reason != "" {
		parts = append(parts, *a.Reason)
	}
	if judged := JudgementWords(a); judged != "" {
		parts = append(parts, judged)
	}
	e.Note = strings.Join(parts, "; ")
	return e
}

// ActionOutcome says in a few words what became of an action.
func ActionOutcome(a store.Action) string {
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

// JudgementWords says what an operator took upon themselves with an action, "" where
// that is nothing.
func JudgementWords(a store.Action) string {
	if a.Outcome != "applied" || !slices.Contains(a.Confirmations, MayHaveHappened) {
		return ""
	}
	if a.Attempt == nil {
		return "judged not to have happened"
	}
	return fmt.Sprintf("judged attempt %d not to have happened", *a.Attempt)
}

func lateEvent(l store.LateReport) Event {
	e := Event{At: l.At, Age: l.Age, Subject: "late report", What: OutcomeWords(str(l.Effect)), Weight: Doubtful, rank: 7}
	if l.ReceiptID != nil {
		e.What = "receipt " + *l.ReceiptID
	}
	e.Note = "from " + orNone(l.Worker)
	if l.Attempt != nil {
		e.Note += fmt.Sprintf(" (attempt %d)", *l.Attempt)
	}
	if failure := failureWords(l.ErrorCategory, l.ErrorDetail); failure != "" {
		e.Note += "; " + failure
	}
	return e
}
