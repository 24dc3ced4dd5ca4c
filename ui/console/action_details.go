package console

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// details shows everything that is recorded about an action.
func (a *actionLog) details() tea.Cmd {
	e := a.m.env
	act, _ := a.table.Selected()
	e.dialogs.push(e, &pager{e: e, name: "Action " + act.ID, make: func(width int) []theme.Line { return actionLines(e, act, width) }})
	return nil
}

func actionLines(e *env, a store.Action, width int) []theme.Line {
	version := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return text.Count(*n)
	}
	attempt := "-"
	if a.Attempt != nil {
		attempt = fmt.Sprint(*a.Attempt)
	}
	outcome, outcomeRole := actionOutcome(a)
	delay := "-"
	if a.Delay != nil && *a.Delay > 0 {
		delay = text.Duration(*a.Delay)
	}
	rows := []fact{
		{"outcome", outcome, outcomeRole},
		{"verb", a.Verb, theme.Plain},
		{"job", orDash(a.JobID), theme.Plain},
		{"kind", orDash(a.Kind), theme.Plain},
		{"change", orDash(a.FromState) + " to " + orDash(a.ToState), theme.Plain},
		{"seen", orDash(a.SeenState) + ", version " + version(a.SeenVersion), theme.Plain},
		{"version made", version(a.Version), theme.Plain},
		{"attempt", attempt, theme.Plain},
		{"lock token", orDash(a.LockToken), theme.Plain},
		{"operator", a.Operator + " (role " + a.DBRole + ", " + orDash(a.Client) + ")", theme.Plain},
		{"when", a.At.Local().Format("2006-01-02 15:04:05 MST") + ", " + age(a.Age) + " ago", theme.Plain},
		{"receipt", orDash(a.ReceiptID), theme.Plain},
		{"delay", delay, theme.Plain},
		{"confirmed", cmp.Or(strings.Join(a.Confirmations, ", "), "-"), theme.Plain},
		{"reason", orDash(a.Reason), theme.Plain},
	}
	const label = 14
	var lines []theme.Line
	for _, f := range rows {
		for i, part := range text.Wrap(e.safe(f.value), max(10, width-label)) {
			var l theme.Line
			if i == 0 {
				l.Add(theme.Dim, f.name)
			}
			l.Gap(label)
			l.Add(f.role, part)
			lines = append(lines, l)
		}
	}
	if a.Lookup != nil {
		shown, err := e.charset().MaskJSON(a.Lookup)
		if err != nil {
			shown = e.words(err)
		}
		var l theme.Line
		l.Add(theme.Dim, "looked up")
		lines = append(lines, l)
		lines = append(lines, paragraph(theme.Plain, shown, width)...)
	}
	return lines
}
