package cli

import (
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// timeline draws a job's story, newest first.
func (s *session) timeline(d store.Detail) table {
	t := table{columns: []column{{}, {right: true}, {}, {least: 10}, {least: 10, soft: true}}}
	for _, e := range actions.Timeline(d) {
		at := e.At.UTC().Format("15:04:05")
		if e.Age >= 12*time.Hour {
			at = e.At.UTC().Format("2006-01-02 15:04")
		}
		what := e.What
		if e.Silent {
			what += ", silent since"
		}
		t.add(cell{at, theme.Dim}, plain(ageColumn(e.Age)), plain(e.Subject), cell{text.Unicode.MaskText(what), theme.OfWeight(e.Weight)}, plain(text.Unicode.MaskText(e.Note)))
	}
	return t
}

// judgement says what an operator took upon themselves with an action.
func judgement(a store.Action) *string {
	if words := actions.JudgementWords(a); words != "" {
		return &words
	}
	return nil
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
