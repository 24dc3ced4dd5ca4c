package actions

import (
	"encoding/json"
	"time"

	"jobtop/store"
)

// Order is one verb on one job, bound to what was seen of it.
type Order struct {
	// ActionID names this act and no other, for ever; made when empty. An order that
	// is run again under its ActionID happens once.
	ActionID      string
	Verb          Verb
	JobID         string
	SeenState     State
	SeenVersion   int64
	Reason        string
	ReceiptID     string          // done only
	Confirmations []string        // see Asks
	Lookup        json.RawMessage // what a lookup at the provider found; nil if none was made
	Delay         time.Duration   // requeue only: not to be claimed before that
}

// Outcome is what became of an order.
type Outcome string

// The outcomes.
const (
	// Applied: it happened, once.
	Applied Outcome = "applied"
	// Refused: it did not happen, and the database said why.
	Refused Outcome = "refused"
	// NotHappened: its answer was lost; it had not happened, and now never will.
	NotHappened Outcome = "not_happened"
	// Unknown: its answer was lost, and so far nobody could find out. Settle tries again.
	Unknown Outcome = "unknown"
	// Errored: it certainly did not happen, because of Err.
	Errored Outcome = "error"
	// NotSent: it was stopped before its turn.
	NotSent Outcome = "not_sent"
)

// Result is what is known of an order.
type Result struct {
	Order   Order // with its ActionID
	Outcome Outcome
	// Answer is what the record says, where the Outcome comes from it: Applied,
	// Refused and NotHappened.
	Answer store.ActAnswer
	// Err is why there is no answer: Errored, Unknown and NotSent.
	Err error
	// Operator is whose act it was: somebody else's, where another console died.
	Operator string
	// Settled: its answer was lost, and found out afterwards.
	Settled bool
	// Failover: the server that settled it is, or may be, another than it was sent
	// to, so that the outcome speaks of the present primary.
	Failover bool
	// JournalErr is why the intent could not be kept in the journal; nil when it was.
	// Were the console killed now, it could not tell at its next start.
	JournalErr error
}

// ExitStatus is a command's exit status for what became of its orders: 4 when any is
// unknown, else 1 when any failed or was not sent, else 3 when any was refused, else 0.
func ExitStatus(results []Result) int {
	seen := map[int]bool{}
	for _, r := range results {
		switch r.Outcome {
		case Applied:
		case Refused:
			seen[3] = true
		case Unknown:
			seen[4] = true
		default:
			seen[1] = true
		}
	}
	for _, status := range []int{4, 1, 3} {
		if seen[status] {
			return status
		}
	}
	return 0
}
