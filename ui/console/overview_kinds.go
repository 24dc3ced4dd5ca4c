package console

import (
	"cmp"
	"slices"
	"time"

	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// kindColumn is a figure of each kind, and the filter that its jobs are found by.
type kindColumn struct {
	title  string
	width  int
	least  int    // the width of the screen from which on it is shown
	filter string // "" leads nowhere
	cell   func(*env, store.KindFigures) (string, theme.Role)
}

var kindColumns = []kindColumn{
	{"due", 7, 0, "state:pending state:failed", countCell(func(k store.KindFigures) store.Count { return k.Due }, theme.Plain)},
	{"oldest", 6, 0, "", func(_ *env, k store.KindFigures) (string, theme.Role) { return ageOf(k.OldestDue), theme.Plain }},
	{"running", 7, 0, "state:running", countCell(func(k store.KindFigures) store.Count { return k.Running }, theme.Plain)},
	{"failed", 7, 0, "state:failed", countCell(func(k store.KindFigures) store.Count { return k.Failed }, theme.Plain)},
	{"review", 7, 0, "state:review", countCell(func(k store.KindFigures) store.Count { return k.Review }, theme.Warn)},
	{"dead", 7, 0, "state:dead", countCell(func(k store.KindFigures) store.Count { return k.Dead }, theme.Plain)},
	{"done/min", 8, 72, "state:done", func(e *env, k store.KindFigures) (string, theme.Role) {
		return approximately(e, k, perMinute(k.DonePerMinute())), theme.Plain
	}},
	{"p50", 5, 100, "", func(e *env, k store.KindFigures) (string, theme.Role) { return durationOf(k.Median), theme.Plain }},
	{"p95", 5, 80, "", func(e *env, k store.KindFigures) (string, theme.Role) { return durationOf(k.P95), theme.Plain }},
	{"fails", 6, 100, "", func(e *env, k store.KindFigures) (string, theme.Role) {
		if k.Ended == 0 {
			return "-", theme.Dim
		}
		share := float64(k.Ended-k.Done) / float64(k.Ended)
		role := theme.Plain
		if share >= 0.2 {
			role = theme.Warn
		}
		return text.Percent(share), role
	}},
}

func countCell(of func(store.KindFigures) store.Count, some theme.Role) func(*env, store.KindFigures) (string, theme.Role) {
	return func(e *env, k store.KindFigures) (string, theme.Role) {
		c := of(k)
		if c.N == 0 {
			return "0", theme.Dim
		}
		return e.count(c), some
	}
}

func durationOf(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return text.Duration(*d)
}

// perMinute is a rate without its unit, which the column's title has.
func perMinute(rate float64) string {
	shown := text.Rate(rate)
	if n := len(shown) - len("/min"); n > 0 && shown[n:] == "/min" {
		return shown[:n]
	}
	return shown
}

func approximately(e *env, k store.KindFigures, s string) string {
	if k.Sampled {
		return e.charset().Approx() + s
	}
	return s
}

// byTrouble orders kinds: what waits for a person first, then what is due.
func byTrouble(a, b store.KindFigures) int {
	return cmp.Or(cmp.Compare(b.Review.N, a.Review.N), cmp.Compare(b.Due.N, a.Due.N), cmp.Compare(a.Kind, b.Kind))
}

func kindPlace(kind, states string) place {
	if states == "state:review" {
		return place{"review", filter.Format([]store.Condition{{Field: "kind", Value: kind}})}
	}
	return place{"jobs", states + " " + filter.Format([]store.Condition{{Field: "kind", Value: kind}})}
}

// kinds is the table of kinds, in at most height lines, scrolled to the selected one.
func (o *overview) kinds(width, height int) []theme.Line {
	e := o.m.env
	if height < 2 {
		return nil
	}
	var columns []kindColumn
	figures := 0
	for _, c := range kindColumns {
		if width >= c.least {
			columns = append(columns, c)
			figures += c.width + 1
		}
	}
	name := min(width-figures-2, 30) // figures far from their names are hard to read
	var title theme.Line
	title.Add(theme.Title, text.PadRight(" kind", name+1))
	for _, c := range columns {
		title.Add(theme.Dim, " "+text.PadLeft(c.title, c.width))
	}
	lines := []theme.Line{title}
	if !o.read {
		return append(lines, *new(theme.Line).Add(theme.Dim, " reading"))
	}
	if len(o.data.Kinds) == 0 {
		return append(lines, *new(theme.Line).Add(theme.Dim, " no job waits, runs or ended lately"))
	}
	room := height - 1
	if l, _ := o.current(); l.section == sectionKinds {
		o.kindsFrom = max(min(o.kindsFrom, l.row), l.row-room+1)
	}
	o.kindsFrom = max(0, min(o.kindsFrom, len(o.data.Kinds)-room))
	for _, k := range o.data.Kinds[o.kindsFrom:min(len(o.data.Kinds), o.kindsFrom+room)] {
		lines = append(lines, o.kindLine(e, k, columns, name))
	}
	return lines
}

func (o *overview) kindLine(e *env, k store.KindFigures, columns []kindColumn, name int) theme.Line {
	var l theme.Line
	l.Add(theme.Plain, " ")
	paused := slices.IndexFunc(e.poller.poll.Paused, func(p store.Paused) bool { return p.Kind == k.Kind })
	shown := e.charset().Line(k.Kind, name-2)
	if paused >= 0 {
		shown += " " + e.glyphs().Paused
		if room := name - text.Width(shown) - 1; room >= 6 {
			shown += e.charset().Line(" by "+e.poller.poll.Paused[paused].By, room)
		}
		l.Add(theme.Warn, text.PadRight(shown, name))
	} else {
		l.Add(theme.Plain, text.PadRight(shown, name))
	}
	for _, c := range columns {
		cell, role := c.cell(e, k)
		cell = text.PadLeft(cell, c.width)
		if o.is("kind " + c.title + " " + k.Kind) {
			l.Add(theme.Selected, e.glyphs().Cursor+cell)
			continue
		}
		l.Add(theme.Plain, " ").Add(role, cell)
	}
	return l
}
