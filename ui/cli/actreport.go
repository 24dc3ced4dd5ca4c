package cli

import (
	"context"
	"fmt"
	"slices"

	"jobtop/actions"
	"jobtop/ui/theme"
)

// actReport tells what became of each order, one line or one JSON object a job, as soon
// as it is known.
type actReport struct {
	s         *session
	json      bool
	dryRun    bool
	noJournal bool // that is told already
	results   []actions.Result
	err       error
}

func (p *actReport) add(r actions.Result) { p.say(r, explain(r)) }

// say tells of a result in words of its own.
func (p *actReport) say(r actions.Result, words string) {
	p.results = append(p.results, r)
	if p.err != nil {
		return
	}
	if p.json {
		p.err = writeJSON(p.s.out, newResultJSON(r, words, p.dryRun))
	} else {
		_, p.err = fmt.Fprintln(p.s.out, p.line(r, words))
	}
	// Written at once: whoever watches or is cut off has what is known so far.
	if err := p.s.out.Flush(); p.err == nil {
		p.err = err
	}
}

// end gives the exit status for all of it. A signal that kept something from being sent
// is told by it, but an outcome that nobody knows goes before.
func (p *actReport) end(ctx context.Context) error {
	status := actions.ExitStatus(p.results)
	if p.err != nil {
		p.s.complain(fmt.Sprintf("the output could not be written: %v; what was done is in jobtop actions", reason(p.err)))
		if status == exitOK || status == exitRefused {
			status = exitError
		}
	}
	if signal := signalOf(ctx); signal != 0 && status != exitUnknown && slices.ContainsFunc(p.results, func(r actions.Result) bool { return r.Outcome == actions.NotSent }) {
		return stoppedBy(signal)
	}
	if status == exitOK {
		return nil
	}
	return &statusError{status: status}
}

func (p *actReport) line(r actions.Result, words string) string {
	var word string
	role := theme.Bad
	switch r.Outcome {
	case actions.Applied:
		word, role = "applied", theme.Good
	case actions.Refused:
		word, role = "refused", theme.Warn
	case actions.NotHappened:
		word = "did not happen"
	case actions.Unknown:
		word = "UNKNOWN"
	case actions.NotSent:
		word = "not sent"
	default:
		word = "error"
	}
	if p.dryRun {
		word = "would be " + word
	}
	return p.s.screen.in(role, word) + "  " + p.s.screen.charset.Line(words, messageWidth)
}

// resultJSON is what requeue, done, dead and hold print for each job.
type resultJSON struct {
	ID          string   `json:"id"`
	Verb        string   `json:"verb"`
	DryRun      bool     `json:"dry_run"`   // true: nothing was sent, outcome is what would be
	Outcome     string   `json:"outcome"`   // applied, refused, not_happened, unknown, error, not_sent
	Refusal     *string  `json:"refusal"`   // not_found, changed, alive, no_edge, busy, receipt_conflict, uncertain
	Message     string   `json:"message"`   // in words; may change from version to version
	ActionID    *string  `json:"action_id"` // null: no action was made
	SeenState   *string  `json:"seen_state"`
	SeenVersion *int64   `json:"seen_version"`
	State       *string  `json:"state"`   // what the job is now, as the next seven
	Version     *int64   `json:"version"` // where it is not to_version, the job has moved on since
	Attempt     *int     `json:"attempt"`
	Verdict     *string  `json:"verdict"`
	ReceiptID   *string  `json:"receipt_id"`
	ChangedBy   *string  `json:"changed_by"`
	ChangedHow  *string  `json:"changed_how"`
	ChangedAgo  *seconds `json:"changed_age_seconds"`
	ToState     *string  `json:"to_state"`
	ToVersion   *int64   `json:"to_version"`
	Blocker     *string  `json:"blocker"`       // the job that has the receipt
	Delay       seconds  `json:"delay_seconds"` // of a requeue
	Settled     bool     `json:"settled"`       // its answer was lost, and found out afterwards
	Journaled   bool     `json:"journaled"`
}

func newResultJSON(r actions.Result, words string, dryRun bool) resultJSON {
	a := r.Answer
	j := resultJSON{
		ID: r.Order.JobID, Verb: string(r.Order.Verb), DryRun: dryRun, Outcome: string(r.Outcome), Refusal: a.Refusal, Message: words,
		State: a.State, Version: a.Version, Attempt: a.Attempt, Verdict: a.Verdict, ReceiptID: a.ReceiptID,
		ChangedBy: a.ChangedBy, ChangedHow: a.ChangedHow, ChangedAgo: secondsOf(a.ChangedAgo),
		ToState: a.ToState, ToVersion: a.ToVersion, Blocker: a.Blocker, Delay: seconds(r.Order.Delay),
		Settled: r.Settled, Journaled: r.JournalErr == nil && r.Order.ActionID != "",
	}
	if r.Order.ActionID != "" {
		j.ActionID = &r.Order.ActionID
	}
	if r.Order.SeenVersion != 0 {
		state := string(r.Order.SeenState)
		j.SeenState, j.SeenVersion = &state, &r.Order.SeenVersion
	}
	return j
}
