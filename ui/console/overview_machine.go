package console

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/machine"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// figures are what the drawing of the state machine shows, each in at most some columns.
func (o *overview) figures(most int) machine.Figures {
	e := o.m.env
	p := e.poller.poll
	of := func(state string, columns int) string { return e.within(e.figure(state), min(columns, most)) }
	f := machine.Figures{
		Pending: of("pending", machine.NodeWidth), Running: of("running", machine.NodeWidth), Done: of("done", machine.DoneWidth),
		Review: of("review", machine.BranchWidth), Failed: of("failed", machine.BranchWidth), Dead: of("dead", machine.BranchWidth),
		Due: e.count(p.Due), Alarm: map[string]theme.Role{},
	}
	if p.Stuck.N > 0 {
		f.Alarm["running"] = theme.Bad
	}
	if stateCount(p, "review").Count.N > 0 {
		f.Alarm["review"] = theme.Warn
	}
	if p.OldestDue != nil && p.Due.N > 0 {
		f.OldestDue = age(*p.OldestDue)
	}
	if l, _ := o.current(); l.section == sectionStates {
		f.Selected = strings.TrimPrefix(l.name, "state ")
	}
	if !o.read {
		return f
	}
	f.Claimed = o.rate(func(from, to string) bool { return to == "running" })
	f.Completed = o.rate(func(from, to string) bool { return from == "running" && to == "done" })
	f.Unknown = o.rate(func(from, to string) bool { return from == "running" && to == "review" })
	f.Failing = o.rate(func(from, to string) bool { return from == "running" && to == "failed" })
	f.Dying = o.rate(func(from, to string) bool { return from == "running" && to == "dead" })
	f.Requeued = o.rate(func(from, to string) bool { return to == "pending" })
	return f
}

// rate is how often some edges together are taken, in words.
func (o *overview) rate(which func(from, to string) bool) string {
	sum, sampled := 0.0, false
	for _, r := range o.data.Rates {
		if which(r.From, r.To) {
			sum += r.PerMinute()
			sampled = sampled || r.Sampled
		}
	}
	if sampled {
		return o.m.env.charset().Approx() + text.Rate(sum)
	}
	return text.Rate(sum)
}

// need is a group of jobs that wait for a person.
type need struct {
	link
	name  string
	count string
	some  bool // there are any
	age   *time.Duration
	role  theme.Role
}

// needs are the groups that wait for a person, the oldest first.
func (o *overview) needs() []need {
	e := o.m.env
	p := e.poller.poll
	review, dead := stateCount(p, "review"), stateCount(p, "dead")
	group := func(name string, to place, c store.Count, age *time.Duration, role theme.Role) need {
		return need{link{to: to}, name, e.within(c, 7), c.N > 0, age, role}
	}
	all := []need{
		group("review", place{view: "review"}, e.figure("review"), review.OldestAge, theme.Warn),
		group("stuck", place{view: "stuck"}, p.Stuck, p.OldestStuck, theme.Bad),
		group("dead", place{"jobs", "state:dead"}, e.figure("dead"), dead.OldestAge, theme.Plain),
	}
	if n := len(o.contradictions); n > 0 {
		all = append(all, need{link{open: o.showContradictions}, "doctor", text.Count(int64(n)), true, nil, theme.Bad})
	}
	slices.SortStableFunc(all, func(a, b need) int {
		// The dead were given up: they can wait.
		late := func(n need) int { return boolean(!n.some)*2 + boolean(n.name == "dead") }
		return cmp.Or(cmp.Compare(late(a), late(b)), cmp.Compare(value(b.age), value(a.age)))
	})
	for _, k := range p.Paused {
		paused := need{link{open: func() tea.Cmd { return o.m.openPause(k.Kind, false) }}, "paused " + k.Kind, "", true, &k.SinceAge, theme.Warn}
		all = append(all, paused)
	}
	return all
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// needsPanel is what stands beside the drawing.
func (o *overview) needsPanel(width int) []theme.Line {
	e := o.m.env
	var title theme.Line
	title.Add(theme.Title, "  needs a person")
	lines := []theme.Line{title}
	for _, n := range o.needs() {
		what := text.PadRight(n.name, 6) + " " + text.PadLeft(n.count, 6)
		what += text.PadLeft(" "+ageOf(n.age), 18-text.Width(what))
		if kind, ok := strings.CutPrefix(n.name, "paused "); ok {
			what = e.glyphs().Paused + " " + e.charset().Line(kind, min(14, width-4))
			for _, k := range e.poller.poll.Paused {
				if width > 40 && k.Kind == kind {
					what += e.charset().Line("  paused "+age(k.SinceAge)+" ago by "+k.By+": "+k.Reason, width-4-text.Width(what))
				}
			}
		}
		var l theme.Line
		switch {
		case o.is("need " + n.name):
			l.Add(theme.Selected, e.glyphs().Cursor+" "+what)
		case !n.some:
			l.Add(theme.Dim, "  "+what)
		default:
			l.Add(theme.Plain, "  ").Add(n.role, what)
		}
		lines = append(lines, l)
	}
	if width > 40 && len(lines) < machine.Height {
		lines = append(lines, theme.Line{})
	}
	return lines
}

// needsLine is the panel on a small screen.
func (o *overview) needsLine() theme.Line {
	e := o.m.env
	var l theme.Line
	for _, n := range o.needs() {
		what := n.name + " " + n.count + " " + ageOf(n.age)
		if kind, ok := strings.CutPrefix(n.name, "paused "); ok {
			what = e.glyphs().Paused + " " + e.charset().Line(kind, 12)
		}
		switch {
		case o.is("need " + n.name):
			l.Add(theme.Selected, e.glyphs().Cursor+what)
		case !n.some:
			l.Add(theme.Dim, " "+n.name+" "+n.count)
		default:
			l.Add(theme.Plain, " ").Add(n.role, what)
		}
		l.Add(theme.Plain, "  ")
	}
	return l
}
