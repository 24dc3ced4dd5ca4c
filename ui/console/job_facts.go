package console

import (
	"fmt"
	"strings"

	"jobtop/actions"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// head is the verdict, in words, and the facts.
func (s *jobScreen) head(width, height int) []theme.Line {
	e := s.m.env
	lines := s.verdict(width)
	if height < 14 && len(lines) > 2 {
		lines = lines[:2]
	}
	facts := s.facts()
	columns := 3
	if width < 76 {
		columns = 2
	}
	cell := (width - 1) / columns
	var l theme.Line
	for i, f := range facts {
		column := i % columns
		if column == 0 && i > 0 {
			lines = append(lines, l)
			l = theme.Line{}
		}
		l.Gap(1 + column*cell)
		l.Add(theme.Dim, text.PadRight(f.name, 8)+" ")
		l.Add(f.role, e.charset().Truncate(f.value, cell-10))
	}
	lines = append(lines, l)
	// The section needs room too, on a small screen.
	if most := max(3, height-5); len(lines) > most {
		lines = lines[:most]
	}
	if height > len(lines)+8 {
		lines = append(lines, theme.Line{})
	}
	return lines
}

func (s *jobScreen) verdict(width int) []theme.Line {
	e := s.m.env
	j := s.detail.Job
	headline := " " + actions.Headline(j.Evidence)
	indent := text.Width(headline) + 3
	var lines []theme.Line
	for i, sentence := range actions.ReadingOf(s.detail) {
		for n, part := range text.Wrap(e.safe(sentence), max(20, width-indent-1)) {
			var l theme.Line
			if i == 0 && n == 0 {
				l.Add(theme.OfVerdict(j.Evidence), headline)
			}
			l.Gap(indent)
			l.Add(theme.Plain, part)
			lines = append(lines, l)
		}
	}
	if note, role, ok := e.ledger.note(j); ok {
		var l theme.Line
		l.Add(role, " "+e.charset().Line(note, width-2))
		lines = append(lines, l)
	}
	if f := s.m.findings[s.id]; f != nil {
		var l theme.Line
		l.Add(theme.Info, " looked up: "+e.charset().Line(f.line, width-14))
		lines = append(lines, l)
	}
	return lines
}

type fact struct {
	name, value string
	role        theme.Role
}

// facts are the fields of the job, three a line.
func (s *jobScreen) facts() []fact {
	e := s.m.env
	d, j := s.detail, s.detail.Job
	state := j.State + " for " + age(j.StateAge)
	if j.StuckFor != nil {
		state = "stuck for " + age(*j.StuckFor) // past its limit, as in the list
	}
	receipt := "none"
	if d.Receipt != nil {
		receipt = d.Receipt.ReceiptID
	}
	worker := orDash(j.Worker)
	changed := moment(d.ChangedAt, d.ChangedAt)
	if d.ChangedBy != nil {
		changed += " by " + *d.ChangedBy
	}
	failure := orDash(j.ErrorCategory)
	next, due := "due", "-"
	switch {
	case j.State == "running" && j.HeartbeatAge != nil:
		next, due = "heard", age(*j.HeartbeatAge)+" ago"
	case j.State != "pending" && j.State != "failed":
	case j.DueFor < 0:
		due = "in " + text.Age(-j.DueFor)
	default:
		due = age(j.DueFor) + " ago"
	}
	limits := text.Age(j.HeartbeatTimeout) + " heartbeat"
	if j.ProgressTimeout != nil {
		limits = text.Age(j.HeartbeatTimeout) + ", progress " + text.Age(*j.ProgressTimeout)
	}
	facts := []fact{
		{"state", state, stateRole(j)},
		{"kind", j.Kind, theme.Plain},
		{"source", orDash(j.SourceVersion), theme.Plain},
		{"attempt", fmt.Sprintf("%d of %d", j.Attempt, j.MaxAttempts), theme.Plain},
		{"worker", worker, theme.Plain},
		{"receipt", receipt, theme.Plain},
		{"error", failure, theme.Plain},
		{"changed", changed, theme.Plain},
		{next, due, theme.Plain},
		{"effect", j.EffectKey, theme.Plain},
		{"limits", limits, theme.Plain},
		{"created", age(j.CreatedAge) + " ago", theme.Plain},
	}
	if j.Progress != nil {
		facts = append(facts, fact{"progress", text.Count(*j.Progress) + ", " + ageOf(j.ProgressAge) + " ago", theme.Plain})
	}
	for i := range facts {
		facts[i].value = e.safe(strings.TrimSpace(facts[i].value))
	}
	return facts
}
