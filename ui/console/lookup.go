package console

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/lookup"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// finding is what a lookup told about a job: kept for the acts that follow.
type finding struct {
	receipt string
	line    string // in words, safe
	record  json.RawMessage
}

// findingsMost bounds what is kept of lookups.
const findingsMost = 1000

// lookupBinding asks the provider about the effect of a job.
func (m *model) lookupBinding(target func() (store.Job, bool)) binding {
	return m.env.bind("lookup", 15, func() tea.Cmd {
		job, _ := target()
		return m.lookUp(job)
	}, func() string {
		job, ok := target()
		if !ok {
			return "no job is selected"
		}
		if _, ok := m.env.Config.LookupFor(job.Kind); !ok {
			return "no lookup command is configured for " + job.Kind + " (lookup in the configuration)"
		}
		if m.env.asking("lookup " + job.ID) {
			return "the provider is being asked"
		}
		return ""
	})
}

func (m *model) lookUp(job store.Job) tea.Cmd {
	e := m.env
	command, _ := e.Config.LookupFor(job.Kind)
	e.say(theme.Info, "looking up "+job.EffectKey+" at the provider")
	e.requests.last++
	id, name, ctx := e.requests.last, "lookup "+job.ID, e.ctx
	e.requests.open[name] = id
	return func() tea.Msg { // with the command's own time limit, not that of a read
		found, err := lookup.Run(ctx, command, job)
		return answer{name, id, func() tea.Cmd { return m.found(job, found, err) }}
	}
}

func (m *model) found(job store.Job, f lookup.Finding, err error) tea.Cmd {
	e := m.env
	if err != nil {
		e.say(theme.Bad, "lookup of "+job.EffectKey+": "+err.Error())
		return nil
	}
	found := &finding{receipt: f.ReceiptID, record: f.Record()}
	role := theme.Warn
	switch {
	case f.ReceiptID != "":
		role = theme.Good
		found.line = "the provider has receipt " + e.safe(f.ReceiptID) + " for " + e.safe(job.EffectKey)
	case f.Structured:
		found.line = "the provider knows of nothing under " + e.safe(job.EffectKey) + "; no proof while a worker may still call"
	default:
		first, _, _ := strings.Cut(strings.TrimSpace(f.Output), "\n")
		found.line = fmt.Sprintf("%s says: %s", e.safe(f.Command), e.charset().Line(e.charset().MaskText(first), 200))
	}
	if job.Evidence.EffectAge != nil && f.ReceiptID == "" {
		found.line += "; the intent is " + age(*job.Evidence.EffectAge) + " old"
	}
	if len(m.findings) >= findingsMost {
		clear(m.findings)
	}
	m.findings[job.ID] = found
	line := found.line + " (" + text.Duration(f.Took) + ")"
	if f.ReceiptID != "" {
		line += ". " + e.keymap.Get("done").First() + " offers it"
	}
	e.say(role, line)
	return nil
}
