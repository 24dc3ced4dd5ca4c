package console

import (
	"context"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/table"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// actionLog is the screen of what operators did, and what they were refused.
type actionLog struct {
	m     *model
	table *table.Table[store.Action]
	pages []actionPage

	loaded     bool
	err        error
	expression string
	query      store.ActionQuery
	past       []string
}

type actionPage struct {
	start string
	store.ActionPage
}

func newActionLog(m *model) *actionLog {
	plain := func(of func(store.Action) string) func(store.Action) (string, theme.Role) {
		return func(a store.Action) (string, theme.Role) { return of(a), theme.Plain }
	}
	a := &actionLog{m: m}
	a.table = table.New(func(a store.Action) string { return a.ID },
		table.Column[store.Action]{ID: "when", Title: "when", Min: 5, Right: true,
			Cell: func(a store.Action) (string, theme.Role) { return age(a.Age), theme.Dim }},
		table.Column[store.Action]{ID: "operator", Title: "operator", Min: 8, Max: 16, Drop: 3, Cell: plain(func(a store.Action) string { return a.Operator })},
		table.Column[store.Action]{ID: "verb", Title: "verb", Min: 7, Max: 9, Cell: plain(func(a store.Action) string { return a.Verb })},
		table.Column[store.Action]{ID: "job", Title: "job", Min: 14, Max: 36, Middle: true, Cell: plain(func(a store.Action) string {
			if a.JobID == nil {
				return orDash(a.Kind)
			}
			return *a.JobID
		})},
		table.Column[store.Action]{ID: "outcome", Title: "outcome", Min: 8, Max: 18, Drop: 1,
			Cell: func(a store.Action) (string, theme.Role) { return actionOutcome(a) }},
		table.Column[store.Action]{ID: "change", Title: "change", Min: 8, Max: 18, Drop: 7, Cell: plain(func(a store.Action) string {
			if a.FromState == nil || a.ToState == nil || a.Outcome != "applied" {
				return "-"
			}
			return *a.FromState + " " + m.env.glyphs().Right + " " + *a.ToState
		})},
		table.Column[store.Action]{ID: "receipt", Title: "receipt", Min: 8, Max: 24, Drop: 6, Wide: true, Cell: plain(func(a store.Action) string { return orDash(a.ReceiptID) })},
		table.Column[store.Action]{ID: "role", Title: "role", Min: 6, Max: 16, Drop: 7, Wide: true, Cell: plain(func(a store.Action) string { return a.DBRole })},
		table.Column[store.Action]{ID: "reason", Title: "reason", Min: 16, Grow: true, Drop: 5, Cell: plain(func(a store.Action) string { return str(a.Reason) })},
	)
	return a
}

func actionOutcome(a store.Action) (string, theme.Role) {
	switch a.Outcome {
	case "applied":
		return "applied", theme.Good
	case "void":
		return "did not happen", theme.Dim
	}
	return "refused: " + strings.ReplaceAll(str(a.Refusal), "_", " "), theme.Bad
}

func (a *actionLog) place() place { return place{"actions", a.expression} }

func (a *actionLog) enter(argument string, left bool) tea.Cmd {
	if !left && argument != a.expression {
		if err := a.filter(argument); err != nil {
			a.m.env.say(theme.Warn, err.Error())
		}
	}
	return a.refresh()
}

// refresh reads the page that the screen begins in again.
func (a *actionLog) refresh() tea.Cmd {
	if a.m.env.asking("actions") {
		return nil
	}
	first, _ := a.table.Window()
	page, n := 0, 0
	for i, p := range a.pages {
		if n += len(p.Actions); first < n {
			page = i
			break
		}
	}
	return a.load(page)
}

func (a *actionLog) load(page int) tea.Cmd {
	q := a.query
	q.Limit = pageSize
	switch {
	case page < len(a.pages):
		q.After = a.pages[page].start
	case page > 0:
		q.After = a.pages[page-1].Next
	}
	db := a.m.env.DB
	return ask(a.m.env, "actions", func(ctx context.Context) (store.ActionPage, error) { return db.Actions(ctx, q) },
		func(p store.ActionPage, err error) tea.Cmd {
			a.err = err
			if err != nil {
				return nil
			}
			a.loaded = true
			a.put(page, actionPage{q.After, p})
			var all []store.Action
			for _, p := range a.pages {
				all = append(all, p.Actions...)
			}
			a.table.Set(all)
			return nil
		})
}

// put replaces a page. Pages behind it stay only where they still begin where it ends.
func (a *actionLog) put(at int, p actionPage) {
	if at > len(a.pages) {
		return
	}
	kept := append(slices.Clone(a.pages[:at]), p)
	if at+1 < len(a.pages) && a.pages[at+1].start == p.Next {
		kept = append(kept, a.pages[at+1:]...)
	}
	a.pages = kept
}

func (a *actionLog) next() string {
	if len(a.pages) == 0 {
		return ""
	}
	return a.pages[len(a.pages)-1].Next
}

func (a *actionLog) moved() tea.Cmd {
	if a.table.Position() > a.table.Len()-pageSize/4 && a.next() != "" && !a.m.env.asking("actions") {
		return a.load(len(a.pages))
	}
	return nil
}

func (a *actionLog) clear() bool {
	if a.expression == "" {
		return false
	}
	_ = a.filter("")
	a.m.history.visit(a.place())
	a.m.later(a.refresh())
	return true
}

func (a *actionLog) info() string {
	e := a.m.env
	if !a.loaded {
		return ""
	}
	n := text.Count(int64(a.table.Total()))
	if a.next() != "" {
		n += " read, more exist"
	}
	parts := []string{n}
	if a.expression != "" {
		parts = append(parts, "/"+e.charset().Line(a.expression, max(10, e.width/3)))
	}
	return strings.Join(append(parts, "newest first"), "  "+e.glyphs().Dot+"  ")
}

func (a *actionLog) view(width, height int) []string {
	e := a.m.env
	var lines []string
	if a.err != nil {
		lines = append(lines, e.line(theme.Bad, " "+e.words(a.err)))
	}
	switch {
	case !a.loaded && a.err == nil:
		return append(lines, "", e.line(theme.Dim, "   reading"))
	case !a.loaded:
		return lines
	case a.table.Len() == 0 && a.expression != "":
		return append(lines, "", e.line(theme.Plain, "   No action matches "+e.safe(a.expression)+"."), "", e.line(theme.Dim, "   "+e.first("back")+" clears the filter"))
	case a.table.Len() == 0:
		return append(lines, "", e.line(theme.Plain, "   Nobody has acted yet."))
	}
	return append(lines, a.table.View(e.theme, width, height-len(lines))...)
}

func (a *actionLog) bindings() []binding {
	e := a.m.env
	none := func() string {
		if a.table.Len() == 0 {
			return "there is nothing in the list"
		}
		return ""
	}
	var own []binding
	for _, b := range moves(e, a.table) {
		do := b.do
		b.do = func() tea.Cmd { return tea.Batch(do(), a.moved()) }
		own = append(own, b)
	}
	return append(own,
		e.bind("open", 10, a.open, none),
		e.bind("section", 20, a.details, none),
		e.bind("filter", 30, a.askFilter, nil),
		e.bind("wide", 40, does(func() { widen(e, a.table) }), nil),
		e.bind("copy", 0, a.copy, none),
	)
}

func (a *actionLog) open() tea.Cmd {
	act, _ := a.table.Selected()
	if act.JobID == nil {
		return a.details()
	}
	return a.m.visit(place{"job", *act.JobID})
}

func (a *actionLog) copy() tea.Cmd {
	act, _ := a.table.Selected()
	return a.m.copyText("the action's id", act.ID)
}
