package actions

import (
	"fmt"

	"jobtop/store"
)

// Explain says in one line what became of an order.
func Explain(r Result) string {
	line := explain(r)
	if r.Failover && (r.Outcome == Applied || r.Outcome == Refused || r.Outcome == NotHappened) {
		line += "; that is how the present primary has it, after a failover"
	}
	return line
}

func explain(r Result) string {
	id := r.Order.JobID
	switch r.Outcome {
	case Applied:
		return explainApplied(r)
	case Refused:
		return explainRefusal(r)
	case NotHappened:
		return fmt.Sprintf("the answer was lost; %s was not %s, and will not be by that act%s", id, past(r.Order.Verb), nowIs(r.Answer))
	case Unknown:
		kept := "the journal keeps it, to be settled"
		if r.JournalErr != nil {
			kept = "no journal keeps it, so note the action's id"
		}
		return fmt.Sprintf("unknown: %s may have been %s (action %s); %s: %s", id, past(r.Order.Verb), r.Order.ActionID, kept, words(r.Err))
	case NotSent:
		return fmt.Sprintf("not sent: stopped before %s was %s", id, past(r.Order.Verb))
	case Errored:
		return fmt.Sprintf("%s was not %s: %s", id, past(r.Order.Verb), words(r.Err))
	}
	return ""
}

func explainApplied(r Result) string {
	a := r.Answer
	line := fmt.Sprintf("%s was %s", r.Order.JobID, past(r.Order.Verb))
	if a.ToVersion != nil && a.Version != nil && *a.ToVersion != *a.Version {
		return line + " (version " + fmt.Sprint(*a.ToVersion) + "); since then " + change(a) + nowIs(a)
	}
	return line + nowIs(a)
}

func explainRefusal(r Result) string {
	a, id := r.Answer, r.Order.JobID
	switch str(a.Refusal) {
	case "not_found":
		return fmt.Sprintf("there is no job %s; nothing was changed", id)
	case "changed":
		return "changed meanwhile: " + change(a) + token(a) + nowIs(a) + "; nothing was changed by this act"
	case "alive":
		return fmt.Sprintf("%s is not stuck (any more): its worker gave a sign of life%s; %s can stop it", id, nowIs(a), VerbHold.Name())
	case "no_edge":
		why := fmt.Sprintf("there is no way from there to %s", r.Order.Verb.Target())
		switch State(str(a.State)) {
		case Done:
			why = "nothing leaves done"
			if r.Order.Verb == VerbDone && str(a.ReceiptID) == r.Order.ReceiptID {
				why = "it has that receipt already"
			}
		case r.Order.Verb.Target():
			why = "that is where it would go"
		default:
		}
		return fmt.Sprintf("%s was not %s%s: %s", id, past(r.Order.Verb), nowIs(a), why)
	case "busy":
		return fmt.Sprintf("somebody else holds %s at this moment%s; nothing was changed, try again", id, nowIs(a))
	case "receipt_required":
		return fmt.Sprintf("%s was not marked done: that takes the provider's receipt ID", id)
	case "receipt_conflict":
		if str(a.Blocker) == id || a.Blocker == nil {
			return fmt.Sprintf("%s was not marked done: it has another receipt already", id)
		}
		return fmt.Sprintf("%s was not marked done: receipt %s belongs to job %s; one receipt proves one job, so compare the two at the provider", id, r.Order.ReceiptID, *a.Blocker)
	case "uncertain":
		return fmt.Sprintf("%s was not requeued: the record says %s; look its effect up at the provider, then confirm by its id%s",
			id, Headline(store.Evidence{Verdict: str(a.Verdict)}), nowIs(a))
	case "reason_required":
		return fmt.Sprintf("%s was not %s: an act needs a reason", id, past(r.Order.Verb))
	}
	return fmt.Sprintf("%s was not %s: the database refused it (%s)%s", id, past(r.Order.Verb), str(a.Refusal), nowIs(a))
}

// change says who changed the job last, and when.
func change(a store.ActAnswer) string {
	who := "somebody"
	if a.ChangedBy != nil {
		who = *a.ChangedBy
	}
	return who + " " + how(str(a.ChangedHow)) + ago0(a.ChangedAgo)
}

// how puts what last_change gives (a verb, "direct", "claim" or an attempt's outcome)
// into words.
func how(s string) string {
	if r := rulesOf(Verb(s)); r != nil {
		return r.did
	}
	switch s {
	case "claim":
		return "claimed it"
	case "direct":
		return "changed it by hand, past jobtop,"
	case "not_begun":
		return "gave it up before it began"
	case "refused":
		return "reported that the provider refused it"
	case "unknown":
		return "reported that its outcome is unknown"
	}
	return "changed it"
}

func past(v Verb) string {
	if r := rulesOf(v); r != nil {
		return r.past
	}
	return "changed"
}

func token(a store.ActAnswer) string {
	if a.LockToken == nil {
		return ""
	}
	return " (token " + *a.LockToken + ")"
}

// nowIs adds what the job is now; nothing where there is no job.
func nowIs(a store.ActAnswer) string {
	if a.State == nil || a.Version == nil {
		return ""
	}
	return fmt.Sprintf("; it is %s, version %d", in(State(*a.State)), *a.Version)
}

func words(err error) string {
	if err == nil {
		return "no answer"
	}
	return err.Error()
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
