package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
)

// handoverOpen bounds the jobs still open in a handover note.
const handoverOpen = 50

// handover prints a note for whoever takes over: what was asked for and what became of it,
// and what is still open.
func (s *session) handover(ctx context.Context, f actionsFlags) error {
	var log []store.Action
	if err := s.eachAction(ctx, f, func(action store.Action) error {
		log = append(log, action)
		return nil
	}); err != nil {
		return err
	}
	poll, err := s.db.Poll(ctx)
	if err != nil {
		return err
	}
	stuck, err := s.db.Jobs(ctx, store.JobQuery{Stuck: true, Limit: handoverOpen})
	if err != nil {
		return err
	}
	review, err := s.db.Jobs(ctx, store.JobQuery{Conditions: []store.Condition{{Field: "state", Value: "review"}}, Limit: handoverOpen})
	if err != nil {
		return err
	}

	var b strings.Builder
	fmt.Fprintf(&b, "# Handover: %s at %s\n\n", markdown(s.server.Database), utc(poll.At))
	what := "All actions on record"
	if f.query.Since > 0 {
		what = "Actions of the last " + text.Duration(f.query.Since)
	}
	fmt.Fprintf(&b, "%s: %s.\n", what, tally(log))
	if len(log) > 0 {
		b.WriteString("\n## Actions, oldest first\n\n| at (UTC) | by | role | verb | job or kind | outcome | why |\n|---|---|---|---|---|---|---|\n")
		for i := len(log) - 1; i >= 0; i-- { // a story is told from its beginning
			a := log[i]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", a.At.UTC().Format(time.DateTime), markdown(a.Operator), markdown(a.DBRole), a.Verb,
				code(subject(a)), markdown(actions.ActionOutcome(a)), markdown(notes(orDash(a.Reason), judgement(a), receiptNote(a))))
		}
	}
	b.WriteString("\n## Still open\n\n")
	open := func(what string, count store.Count, oldest *time.Duration, note string) {
		fmt.Fprintf(&b, "- %s: %s", what, s.count(count))
		if oldest != nil && count.N > 0 {
			b.WriteString(", oldest " + text.Age(*oldest))
		}
		b.WriteString(note + "\n")
	}
	for _, name := range []string{"pending", "failed", "review", "dead"} {
		state := poll.State(name)
		open(name, state.Count, state.OldestAge, "")
	}
	open("due", poll.Due, poll.OldestDue, " (pending and failed whose time has come)")
	open("stuck", poll.Stuck, poll.OldestStuck, "")
	for _, p := range poll.Paused {
		until := "until somebody resumes it"
		if p.EndsIn != nil {
			until = "for another " + text.Duration(*p.EndsIn)
		}
		fmt.Fprintf(&b, "- paused: %s by %s, %s: %s\n", code(p.Kind), markdown(p.By), until, markdown(p.Reason))
	}
	openJobs(&b, "Stuck", stuck)
	openJobs(&b, "In review", review)
	_, err = s.out.WriteString(b.String())
	return err
}

func openJobs(b *strings.Builder, title string, page store.JobPage) {
	if len(page.Jobs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n| job | kind | verdict | attempt | since | last word |\n|---|---|---|---|---|---|\n", title)
	for _, j := range page.Jobs {
		since := j.StateAge
		if j.StuckFor != nil {
			since = *j.StuckFor
		}
		fmt.Fprintf(b, "| %s | %s | %s | %d of %d | %s | %s |\n", code(j.ID), markdown(j.Kind), actions.VerdictWords(j.Evidence), j.Attempt, j.MaxAttempts,
			ageColumn(since), markdown(lastWord(j)))
	}
	if page.Next != "" || page.Limited {
		fmt.Fprintf(b, "\nThe first %d; there are more.\n", len(page.Jobs))
	}
}

// tally counts actions by what became of them.
func tally(log []store.Action) string {
	counts := map[string]int{}
	for _, a := range log {
		counts[a.Outcome]++
	}
	if len(log) == 0 {
		return "none"
	}
	return fmt.Sprintf("%d applied, %d refused, %d that did not happen", counts["applied"], counts["refused"], counts["void"])
}

func receiptNote(a store.Action) *string {
	if a.ReceiptID == nil {
		return nil
	}
	s := "receipt " + *a.ReceiptID
	return &s
}

// markdown makes untrusted text a part of a table's cell that is nothing but text.
func markdown(untrusted string) string {
	safe := text.Unicode.Sanitize(untrusted)
	var b strings.Builder
	for _, r := range safe {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|~&$@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code makes untrusted text a code span inside a table's cell, or plain text where it
// cannot be one.
func code(untrusted string) string {
	safe := text.Unicode.Sanitize(untrusted)
	if safe == "" || strings.ContainsAny(safe, "`|") || strings.TrimSpace(safe) != safe {
		return markdown(untrusted)
	}
	return "`" + safe + "`"
}
