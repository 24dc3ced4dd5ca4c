package console

import (
	"cmp"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/table"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// grouping answers what the jobs of a list share: how many have the same kind, worker,
// error, source version or verdict.
type grouping struct {
	l     *list
	field int // of groupFields, 0: not grouped
	table *table.Table[group]
}

// group is the jobs that share a value.
type group struct {
	value     string
	shown     string
	n         int
	share     float64
	uncertain int
	oldest    time.Duration
}

var groupFields = []string{"", "kind", "worker", "error", "version", "verdict"}

func newGrouping(l *list) grouping {
	return grouping{l: l, table: table.New(func(g group) string { return g.value },
		table.Column[group]{ID: "value", Title: "value", Min: 12, Max: 40, Grow: true,
			Cell:    func(g group) (string, theme.Role) { return g.shown, theme.Plain },
			Compare: func(a, b *group) int { return cmp.Compare(a.shown, b.shown) }},
		table.Column[group]{ID: "jobs", Title: "jobs", Min: 7, Right: true,
			Cell: func(g group) (string, theme.Role) { return text.Count(int64(g.n)), theme.Strong }},
		table.Column[group]{ID: "share", Title: "share", Min: 6, Right: true, Drop: 2,
			Cell: func(g group) (string, theme.Role) { return text.Percent(g.share), theme.Plain }},
		table.Column[group]{ID: "uncertain", Title: "uncertain", Min: 9, Right: true, Drop: 1,
			Cell: func(g group) (string, theme.Role) {
				if g.uncertain == 0 {
					return "-", theme.Dim
				}
				return text.Count(int64(g.uncertain)), theme.Warn
			}},
		table.Column[group]{ID: "oldest", Title: "oldest", Min: 6, Right: true, Drop: 3,
			Cell: func(g group) (string, theme.Role) { return age(g.oldest), theme.Plain }},
	)}
}

func (g *grouping) on() bool   { return g.field != 0 }
func (g *grouping) by() string { return groupFields[g.field] }
func (g *grouping) off()       { g.field = 0 }

// next groups by the next field, and reads first what is not read yet, up to a bound.
func (g *grouping) next() tea.Cmd {
	g.field = (g.field + 1) % len(groupFields)
	g.table.Reset()
	g.count()
	if g.on() && g.l.pages.next() != "" && g.l.table.Total() < markBound {
		return g.l.more((markBound-g.l.table.Total())/pageSize, nil)
	}
	return nil
}

// count groups what was read.
func (g *grouping) count() {
	if !g.on() {
		return
	}
	by := map[string]*group{}
	all := 0
	for j := range g.l.table.Shown() {
		all++
		value := groupValue(g.by(), j)
		sum := by[value]
		if sum == nil {
			sum = &group{value: value, shown: value}
			if value == "" {
				sum.shown = "(none)"
			}
			by[value] = sum
		}
		sum.n++
		if actions.Uncertain(j.Evidence) {
			sum.uncertain++
		}
		sum.oldest = max(sum.oldest, j.StateAge)
	}
	groups := make([]group, 0, len(by))
	for _, sum := range by {
		sum.share = float64(sum.n) / float64(all)
		groups = append(groups, *sum)
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.value, b.value)) })
	g.table.Set(groups)
}

func groupValue(field string, j *store.Job) string {
	switch field {
	case "kind":
		return j.Kind
	case "worker":
		return str(j.Worker)
	case "error":
		return str(j.ErrorCategory)
	case "version":
		return str(j.SourceVersion)
	}
	return j.Evidence.Verdict
}

// open shows the jobs of the selected group.
func (g *grouping) open() tea.Cmd {
	sum, ok := g.table.Selected()
	if !ok {
		return nil
	}
	expression := with(g.l.conditions, store.Condition{Field: g.by(), Value: sum.value})
	g.off()
	return g.l.m.visit(place{g.l.kind.view, expression})
}

func (g *grouping) bindings() []binding {
	e := g.l.m.env
	return append(moves(e, g.table),
		e.bind("open", 10, g.open, nil),
		e.bind("group", 20, g.next, nil),
	)
}

func (g *grouping) view(width, height int) []string {
	var lines []string
	if !g.l.pages.whole() {
		lines = append(lines, g.l.m.env.line(theme.Warn, " of the "+text.Count(int64(g.l.table.Total()))+" jobs that were read; more exist"))
	}
	return append(lines, g.table.View(g.l.m.env.theme, width, height-len(lines))...)
}

// moves are the keys that move the selection of a table.
func moves[R any](e *env, t *table.Table[R]) []binding {
	none := func() string {
		if t.Len() == 0 {
			return "there is nothing in the list"
		}
		return ""
	}
	by := func(n func() int) func() tea.Cmd { return does(func() { t.Move(n()) }) }
	return []binding{
		e.bind("down", 0, by(func() int { return 1 }), none),
		e.bind("up", 0, by(func() int { return -1 }), none),
		e.bind("top", 0, does(t.Top), none),
		e.bind("bottom", 0, does(t.Bottom), none),
		e.bind("half-down", 0, by(func() int { return t.Page() / 2 }), none),
		e.bind("half-up", 0, by(func() int { return -t.Page() / 2 }), none),
		e.bind("page-down", 0, by(t.Page), none),
		e.bind("page-up", 0, by(func() int { return -t.Page() }), none),
	}
}
