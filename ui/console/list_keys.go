package console

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/table"
	"jobtop/ui/theme"
)

// bindings are the keys of a list of jobs.
func (l *list) bindings() []binding {
	e := l.m.env
	if l.grouping.on() {
		return l.grouping.bindings()
	}
	none := func() string {
		if l.table.Len() == 0 {
			return "there is nothing in the list"
		}
		return ""
	}
	move := func(by func() int) func() tea.Cmd {
		return func() tea.Cmd {
			l.table.Move(by())
			return l.moved()
		}
	}
	rows := func(n int) func() int { return func() int { return n } }
	own := []binding{
		e.bind("down", 0, move(rows(1)), none),
		e.bind("up", 0, move(rows(-1)), none),
		e.bind("top", 0, does(l.table.Top), none),
		e.bind("bottom", 0, l.bottom, none),
		e.bind("half-down", 0, move(func() int { return l.table.Page() / 2 }), none),
		e.bind("half-up", 0, move(func() int { return -l.table.Page() / 2 }), none),
		e.bind("page-down", 0, move(func() int { return l.table.Page() }), none),
		e.bind("page-up", 0, move(func() int { return -l.table.Page() }), none),
		e.bind("open", 30, l.open, none),
		e.bind("mark", 10, does(l.mark), none),
		e.bind("mark-all", 0, l.markAll, none),
		e.bind("filter", 40, l.askFilter, nil),
		e.bind("next-match", 0, func() tea.Cmd { return l.match(1) }, l.noMatch),
		e.bind("previous-match", 0, func() tea.Cmd { return l.match(-1) }, l.noMatch),
		e.bind("group", 50, l.grouping.next, none),
		e.bind("sort", 60, l.nextSort, none),
		e.bind("reverse", 0, l.reverseSort, none),
		e.bind("wide", 70, does(func() { widen(e, l.table) }), nil),
		e.bind("copy", 0, l.copyIDs, none),
		e.bind("copy-error", 0, l.copyError, none),
		l.m.lookupBinding(l.target),
	}
	return append(own, l.m.verbs(l.target, l.table)...)
}

// widen shows more columns or fewer, and says so where there is no room for more.
func widen[R any](e *env, t *table.Table[R]) {
	before := t.Fitting(e.width)
	t.Wide = !t.Wide
	if slices.Equal(before, t.Fitting(e.width)) {
		t.Wide = false
		e.say(theme.Warn, fmt.Sprintf("a terminal %d wide has no room for more columns", e.width))
	}
}

func (l *list) target() (store.Job, bool) { return l.table.Selected() }

func (l *list) open() tea.Cmd {
	job, _ := l.table.Selected()
	return l.m.visit(place{"job", job.ID})
}

func (l *list) mark() {
	l.table.ToggleMark()
	if job, ok := l.table.Selected(); ok && l.table.Gone() {
		l.m.env.say(theme.Warn, job.ID+" is not in this list any more")
		return
	}
	l.table.Move(1)
}

// bottom goes to the last row that was read, and reads on where there is more.
func (l *list) bottom() tea.Cmd {
	l.table.Bottom()
	return l.more(1, func() tea.Cmd {
		l.table.Bottom()
		return nil
	})
}

// markBound is how many jobs are read at most in order to mark or group them.
const markBound = 2000

// markAll marks everything that the filter shows: what was not read yet is read first, up
// to a bound.
func (l *list) markAll() tea.Cmd {
	e := l.m.env
	if l.pages.next() == "" || l.table.Total() >= markBound {
		l.table.MarkAll()
		if l.table.Marks() > 0 && !l.pages.whole() {
			e.say(theme.Warn, fmt.Sprintf("the %d that were read are marked; more exist: narrow the filter, or do these first", l.table.Marks()))
		}
		return nil
	}
	e.say(theme.Info, "reading on, to mark them all")
	return l.more((markBound-l.table.Total())/pageSize, func() tea.Cmd {
		e.status = status{}
		l.table.MarkAll()
		if !l.pages.whole() {
			e.say(theme.Warn, fmt.Sprintf("the first %d are marked; more exist: narrow the filter, or do these first", l.table.Marks()))
		}
		return nil
	})
}

// askFilter lets a filter be typed. Mistakes show while it is.
func (l *list) askFilter() tea.Cmd {
	p := newPrompt("/", l.expression, &l.past)
	check := func(s string) {
		p.problem = ""
		if _, err := filter.Parse(s); err != nil {
			p.problem = err.Error()
		}
	}
	p.changed = check
	p.complete = completeFilter
	p.enter = func(s string) tea.Cmd {
		if err := l.filter(s); err != nil {
			l.m.env.say(theme.Warn, err.Error())
			return nil
		}
		l.m.history.visit(l.place())
		return l.refresh()
	}
	l.m.prompt = p
	return nil
}

// matches are the rows that the last filter typed would show, in a list without it.
func (l *list) noMatch() string {
	if len(l.past) == 0 {
		return "type a filter with " + l.m.env.first("filter") + " first"
	}
	return ""
}

func (l *list) match(direction int) tea.Cmd {
	expression := l.past[len(l.past)-1]
	conditions, err := filter.Parse(expression)
	if err != nil || !l.table.Next(direction, func(j store.Job) bool { return matches(j, conditions) }) {
		l.m.env.say(theme.Warn, "no job that was read matches "+expression)
		return nil
	}
	return l.moved()
}
