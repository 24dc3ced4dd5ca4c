package console

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/table"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// listKind is what makes one list of jobs differ from another.
type listKind struct {
	view    string
	columns []string
	drop    map[string]int // where a column matters more or less here than elsewhere
	query   store.JobQuery
	order   string // the natural order, in words
	empty   string
}

var stuckList = listKind{
	view:    "stuck",
	columns: []string{"id", "kind", "verdict", "try", "over", "silent", "worker", "effect", "version", "created", "last word"},
	drop:    map[string]int{"worker": 4, "last word": 8},
	query:   store.JobQuery{Stuck: true},
	order:   "worst first",
	empty:   "Nothing is stuck: every running job is within its own limits.",
}

var reviewList = listKind{
	view:    "review",
	columns: []string{"id", "kind", "verdict", "try", "since", "worker", "effect", "version", "created", "last word"},
	query:   store.JobQuery{Conditions: []store.Condition{{Field: "state", Value: "review"}}},
	order:   "oldest first",
	empty:   "Nothing waits for a person: no job is in review.",
}

var jobsList = listKind{
	view:    "jobs",
	columns: []string{"id", "kind", "state", "verdict", "try", "since", "worker", "effect", "version", "created", "last word"},
	order:   "oldest first",
	empty:   "No open job. Done ones are found with the filter state:done, an id, an effect key or a receipt.",
}

// list is a screen that lists jobs.
type list struct {
	m    *model
	kind listKind

	table  *table.Table[store.Job]
	pages  pages
	loaded bool
	err    error

	expression string // the filter as typed
	found      string // what a bare word was found by, where no id begins with it
	conditions []store.Condition
	order      store.Order // asked of the database, "" for the natural one
	sortBy     string      // the column that orders the list, "" for the natural order
	reversed   bool
	past       []string

	grouping grouping
}

func newList(m *model, kind listKind) *list {
	all := m.jobColumns()
	var columns []table.Column[store.Job]
	for _, id := range kind.columns {
		c := all[id]
		if drop, ok := kind.drop[id]; ok {
			c.Drop = drop
		}
		columns = append(columns, c)
	}
	l := &list{m: m, kind: kind, table: table.New(func(j store.Job) string { return j.ID }, columns...)}
	l.table.Note = m.env.ledger.note
	l.grouping = newGrouping(l)
	return l
}

func (l *list) place() place { return place{l.kind.view, l.expression} }

func (l *list) name() string { return "list " + l.kind.view }

// enter shows the list with the filter of its place.
func (l *list) enter(argument string, left bool) tea.Cmd {
	if !left && argument != l.expression {
		if err := l.filter(argument); err != nil {
			l.m.env.say(theme.Warn, err.Error())
		}
	}
	return l.refresh()
}

// filter narrows the list anew. On an error it stays as it was.
func (l *list) filter(expression string) error {
	expression = strings.TrimSpace(expression)
	conditions, err := filter.Parse(expression)
	if err != nil {
		return err
	}
	l.expression, l.conditions = expression, conditions
	l.order, l.sortBy, l.reversed = "", "", false
	l.restart()
	return nil
}

// restart begins the list anew, for another question.
func (l *list) restart() {
	l.m.env.forget(l.name())
	l.table.Reset()
	l.table.Sort("", false)
	l.pages, l.loaded, l.err = pages{}, false, nil
}

// word is the filter of the jobs where it is nothing but a bare word, such as an id that
// was pasted; or else the receipt ID or the effect key, which look no different.
func (l *list) word() string {
	word := strings.TrimSuffix(l.expression, "*")
	if l.kind.view != "jobs" || word == "" || len(l.conditions) != 1 || l.conditions[0] != (store.Condition{Field: "id", Value: word + "*"}) {
		return ""
	}
	return word
}

func (l *list) query() store.JobQuery {
	q := l.kind.query
	q.Conditions = append(append([]store.Condition(nil), q.Conditions...), l.conditions...)
	q.Order = l.order
	return q
}

// refresh reads again the pages that are on the screen, or all where all are needed.
func (l *list) refresh() tea.Cmd {
	if l.m.env.asking(l.name()) {
		return nil
	}
	first, n := l.pages.around(l.table.Visible())
	if by, _ := l.table.Sorted(); by != "" || l.grouping.on() {
		first, n = 0, max(1, len(l.pages.read))
	}
	return l.load(first, n, nil)
}

// load reads pages from a page on.
func (l *list) load(first, n int, then func() tea.Cmd) tea.Cmd {
	start := ""
	switch {
	case first < len(l.pages.read):
		start = l.pages.read[first].start
	case first > 0:
		start = l.pages.next()
	}
	db, q := l.m.env.DB, l.query()
	word := l.word()
	return ask(l.m.env, l.name(), func(ctx context.Context) (stretch, error) {
		read, err := readPages(ctx, db, q, start, n)
		if err != nil || word == "" || first > 0 || len(read[0].Jobs) > 0 {
			return stretch{read: read}, err
		}
		return readElsewhere(ctx, db, word, read)
	}, func(s stretch, err error) tea.Cmd {
		l.err = err
		if err != nil {
			return nil
		}
		l.found = s.by
		l.pages.put(first, s.read)
		l.loaded = true
		l.table.SetRefs(l.pages.jobs())
		l.grouping.count()
		if then != nil {
			return then()
		}
		return nil
	})
}

// more reads on at the end of what was read.
func (l *list) more(n int, then func() tea.Cmd) tea.Cmd {
	if l.pages.next() == "" {
		return nil
	}
	l.m.env.forget(l.name())
	return l.load(len(l.pages.read), n, then)
}

// moved is what a move of the selection may lead to: near the end, more is read.
func (l *list) moved() tea.Cmd {
	if l.table.Position() > l.table.Len()-pageSize/4 && l.pages.next() != "" && !l.m.env.asking(l.name()) {
		return l.more(1, nil)
	}
	return nil
}

// clear takes back the grouping, the marks, the filter, in this order.
func (l *list) clear() bool {
	switch {
	case l.grouping.on():
		l.grouping.off()
	case l.table.Marks() > 0:
		l.table.Unmark()
	case l.expression != "":
		_ = l.filter("")
		l.m.history.visit(l.place())
		l.m.later(l.refresh())
	default:
		return false
	}
	return true
}

func (l *list) info() string {
	e := l.m.env
	if !l.loaded {
		return ""
	}
	n := text.Count(int64(l.table.Total()))
	if l.kind.view == "jobs" && l.expression == "" {
		n += " open"
	}
	if !l.pages.whole() {
		n += " read, more exist"
	}
	parts := []string{n}
	if marks := l.table.Marks(); marks > 0 {
		parts = append(parts, text.Count(int64(marks))+" marked")
	}
	if l.expression != "" {
		parts = append(parts, "/"+e.charset().Line(l.expression, max(10, e.width/3)))
	}
	if e.width >= 80 {
		parts = append(parts, l.ordered())
	}
	if l.grouping.on() {
		parts = append(parts, "by "+l.grouping.by())
	}
	return strings.Join(parts, "  "+e.glyphs().Dot+"  ")
}

func (l *list) view(width, height int) []string {
	e := l.m.env
	var lines []string
	if l.err != nil {
		lines = append(lines, e.line(theme.Bad, " "+e.words(l.err)))
	}
	switch {
	case !l.loaded && l.err == nil:
		return append(lines, "", e.line(theme.Dim, "   reading"))
	case !l.loaded:
		return lines
	case l.grouping.on():
		return append(lines, l.grouping.view(width, height-len(lines))...)
	case l.table.Len() == 0 && l.expression != "":
		return append(lines, "", e.line(theme.Plain, "   No job matches "+e.safe(l.expression)+"."), "", e.line(theme.Dim, "   "+e.first("back")+" clears the filter"))
	case l.table.Len() == 0:
		return append(lines, "", e.line(theme.Plain, "   "+l.kind.empty))
	}
	if l.found != "" {
		lines = append(lines, e.line(theme.Info, " found by its "+l.found+": no id begins like that"))
	}
	if l.pages.limited() {
		bound := store.ScanBound
		if slices.ContainsFunc(l.conditions, func(c store.Condition) bool { return c.Field == "verdict" }) {
			bound = store.VerdictBound
		}
		lines = append(lines, e.line(theme.Warn, fmt.Sprintf(" the search stopped after %s jobs were looked at; %s goes on",
			text.Count(int64(bound)), e.keymap.Get("bottom").First())))
	}
	return append(lines, l.table.View(e.theme, width, height-len(lines))...)
}
