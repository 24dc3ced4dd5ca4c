package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jobtop/store"
)

// Headline is the verdict in capitals, as it stands first on the screen.
func Headline(e store.Evidence) string {
	switch e.Verdict {
	case store.VerdictHappened:
		if e.Late {
			return "HAPPENED (LATE)"
		}
		return "HAPPENED"
	case store.VerdictMayHaveHappened:
		return "MAY HAVE HAPPENED"
	case store.VerdictDidNotHappen:
		return "DID NOT HAPPEN"
	case store.VerdictNeverStarted:
		return "NEVER STARTED"
	}
	return "NOT KNOWN"
}

// VerdictWords is the verdict as a list shows it.
func VerdictWords(e store.Evidence) string { return strings.ToLower(Headline(e)) }

// receiptTaken is the error category that jobtop.complete gives a job whose receipt another one has.
const receiptTaken = "receipt taken"

// Reading puts what the verdict rests on into sentences: which attempt, when, and what
// follows from it.
func Reading(job store.Job) []string {
	e := job.Evidence
	if str(job.ErrorCategory) == receiptTaken && (e.Verdict == store.VerdictMayHaveHappened || e.Verdict == store.VerdictNotKnown) {
		return []string{attempt(e) + " brought a receipt that another job of its kind has; the error names both", "compare the two at the provider: one receipt proves one job"}
	}
	switch e.Verdict {
	case store.VerdictHappened:
		return readHappened(job)
	case store.VerdictMayHaveHappened:
		return readMayHaveHappened(job)
	case store.VerdictDidNotHappen:
		return settled(job, attempt(e)+" was definitely refused: the provider did not do it")
	case store.VerdictNeverStarted:
		if e.Attempt == nil {
			return []string{"no worker has claimed it yet"}
		}
		if working(job) {
			return []string{fmt.Sprintf("%s has not begun its effect", attempt(e))}
		}
		return settled(job, "no attempt recorded that its effect began; the last was "+attempt(e))
	}
	return readNotKnown(job)
}

func readHappened(job store.Job) []string {
	e := job.Evidence
	receipt, by := "a receipt", "a worker"
	if e.ReceiptID != nil {
		receipt = "receipt " + *e.ReceiptID
	}
	if e.RecordedBy != nil {
		by = *e.RecordedBy
	}
	if !e.Late {
		return []string{fmt.Sprintf("%s, recorded by %s%s", receipt, by, ago0(e.RecordedAge))}
	}
	return []string{
		fmt.Sprintf("%s reported %s%s, after it had lost its lease", by, receipt, ago0(e.RecordedAge)),
		"the job is not done by it: mark it done with that receipt",
	}
}

func readMayHaveHappened(job store.Job) []string {
	e := job.Evidence
	if working(job) {
		return []string{fmt.Sprintf("%s began its effect%s and is at it now", attempt(e), ago0(e.EffectAge))}
	}
	return []string{fmt.Sprintf("%s told the provider%s, and no answer is recorded", attempt(e), ago0(e.EffectAge)), lookUp(job)}
}

func readNotKnown(job store.Job) []string {
	const cannotTell = "the record cannot tell"
	switch {
	case job.Evidence.Attempt == nil:
		return []string{cannotTell, lookUp(job)}
	case working(job):
		return []string{attempt(job.Evidence) + " runs under a worker that records no intents, so " + cannotTell}
	}
	return []string{attempt(job.Evidence) + " ran under a worker that records no intents, so " + cannotTell, lookUp(job)}
}

// working: the verdict rests on the attempt that runs now, under a worker that is alive.
func working(job store.Job) bool {
	return alive(job) && job.Evidence.Attempt != nil && *job.Evidence.Attempt == job.Attempt
}

func settled(job store.Job, sentence string) []string {
	if HasEdge(State(job.State), Pending, Operator) {
		return []string{sentence, "a requeue is safe"}
	}
	return []string{sentence}
}

func lookUp(job store.Job) string {
	return fmt.Sprintf("look up %s at the provider before a requeue", job.EffectKey)
}

func attempt(e store.Evidence) string {
	if e.Attempt == nil {
		return "an attempt"
	}
	return fmt.Sprintf("attempt %d", *e.Attempt)
}

// ReadingOf is Reading, followed by what operators have judged since: the record of
// an attempt does not change because somebody decided to try again.
func ReadingOf(d store.Detail) []string {
	lines := Reading(d.Job)
	for _, j := range Judgements(d) {
		lines = append(lines, j.String())
	}
	return lines
}

// Judgement is an operator's decision that an attempt whose effect was uncertain had
// not happened: a requeue that was confirmed by typing the job's id.
type Judgement struct {
	Operator string
	Attempt  int
	Age      time.Duration
	Reason   string
}

func (j Judgement) String() string {
	return fmt.Sprintf("%s judged attempt %d not to have happened, %s", j.Operator, j.Attempt, ago(j.Age))
}

// Judgements finds the decisions in a job's history, newest first. A confirmation
// that was given needlessly, of a job that had never started, is none.
func Judgements(d store.Detail) []Judgement {
	var found []Judgement
	for _, a := range d.Actions {
		if a.Verb != string(VerbRequeue) || a.Outcome != "applied" || a.Attempt == nil || !slices.Contains(a.Confirmations, MayHaveHappened) {
			continue
		}
		h := HistoryOf(d)
		h.Receipt = nil
		h.Attempts = nil
		for _, t := range d.Attempts {
			if t.Attempt <= *a.Attempt {
				h.Attempts = append(h.Attempts, t)
			}
		}
		// What was reported late may have been reported after the decision.
		h.LateReports = nil
		e := Judge(h)
		if !Uncertain(e) || e.Attempt == nil {
			continue
		}
		j := Judgement{Operator: a.Operator, Attempt: *e.Attempt, Age: a.Age}
		if a.Reason != nil {
			j.Reason = *a.Reason
		}
		found = append(found, j)
	}
	return found
}
