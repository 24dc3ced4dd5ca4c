package console

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/machine"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// overview is the first screen: the state machine, what needs a person, the latest
// receipts. Each of its figures leads to its list.
type overview struct {
	m        *model
	receipts []store.Receipt
	err      error
	at       int // of links
}

func newOverview(m *model) *overview { return &overview{m: m} }

func (o *overview) place() place { return place{view: "overview"} }

func (o *overview) enter(string) tea.Cmd { return o.refresh() }

func (o *overview) clear() bool { return false }

// latest is how many receipts are shown.
const latest = 5

func (o *overview) refresh() tea.Cmd {
	e := o.m.env
	if e.asking("overview") {
		return nil
	}
	db := e.DB
	return ask(e, "overview", func(ctx context.Context) ([]store.Receipt, error) { return db.Receipts(ctx, latest) }, func(r []store.Receipt, err error) tea.Cmd {
		o.err = err
		if err == nil {
			o.receipts = r
		}
		return nil
	})
}

// link is something on the overview that leads somewhere.
type link struct {
	name string
	to   place
}

// needs are the groups of jobs that wait for a person, the oldest first.
type need struct {
	link
	count store.Count
	age   *time.Duration
	role  theme.Role
}

func (o *overview) needs() []need {
	p := o.m.env.poller.poll
	review, dead := stateCount(p, "review"), stateCount(p, "dead")
	all := []need{
		{link{"review", place{view: "review"}}, review.Count, review.OldestAge, theme.Warn},
		{link{"stuck", place{view: "stuck"}}, p.Stuck, p.OldestStuck, theme.Bad},
		{link{"dead", place{"jobs", "state:dead"}}, dead.Count, dead.OldestAge, theme.Plain},
	}
	slices.SortStableFunc(all, func(a, b need) int {
		if (a.count.N == 0) != (b.count.N == 0) {
			return cmp.Compare(b.count.N, a.count.N)
		}
		return cmp.Compare(value(b.age), value(a.age))
	})
	return all
}

// links are what the selection goes through, in the order of the screen.
func (o *overview) links() []link {
	var links []link
	for _, n := range o.needs() {
		links = append(links, n.link)
	}
	for _, state := range []string{"pending", "running", "done", "review", "failed", "dead"} {
		links = append(links, link{"state " + state, place{"jobs", "state:" + state}})
	}
	for _, p := range o.m.env.poller.poll.Paused {
		links = append(links, link{"paused " + p.Kind, place{"jobs", with(nil, store.Condition{Field: "kind", Value: p.Kind})}})
	}
	for _, r := range o.receipts {
		links = append(links, link{"receipt " + r.JobID, place{"job", r.JobID}})
	}
	return links
}

func (o *overview) selected() link {
	links := o.links()
	o.at = max(0, min(o.at, len(links)-1))
	return links[o.at]
}

func (o *overview) bindings() []binding {
	e := o.m.env
	move := func(by int) func() tea.Cmd {
		return does(func() { o.at = (o.at + by + len(o.links())) % len(o.links()) })
	}
	return []binding{
		e.bind("down", 0, move(1), nil),
		e.bind("up", 0, move(-1), nil),
		e.bind("right", 0, move(1), nil),
		e.bind("left", 0, move(-1), nil),
		e.bind("section", 20, does(o.next), nil),
		e.bind("top", 0, does(func() { o.at = 0 }), nil),
		e.bind("bottom", 0, does(func() { o.at = len(o.links()) - 1 }), nil),
		e.bind("open", 10, func() tea.Cmd { return o.m.visit(o.selected().to, true) }, nil),
	}
}

// next goes to the next section: needs, states, what is below.
func (o *overview) next() {
	sections := []int{0, 3, 9}
	for _, start := range sections {
		if start > o.at && start < len(o.links()) {
			o.at = start
			return
		}
	}
	o.at = 0
}

func (o *overview) info() string {
	if p := o.m.env.poller; p.known {
		return "database time " + p.poll.At.Local().Format("15:04") + " " + zone(p.poll.At)
	}
	return ""
}

func zone(t time.Time) string {
	name, _ := t.Local().Zone()
	return name
}

func (o *overview) figures() machine.Figures {
	e := o.m.env
	p := e.poller.poll
	of := func(state string) string { return e.count(stateCount(p, state).Count) }
	f := machine.Figures{
		Pending: of("pending"), Running: of("running"), Done: of("done"), Review: of("review"), Failed: of("failed"), Dead: of("dead"),
		Due: e.count(p.Due), Alarm: map[string]bool{"running": p.Stuck.N > 0, "review": stateCount(p, "review").Count.N > 0},
	}
	if p.OldestDue != nil && p.Due.N > 0 {
		f.OldestDue = age(*p.OldestDue)
	}
	if name := o.selected().name; len(name) > 6 && name[:6] == "state " {
		f.Selected = name[6:]
	}
	return f
}

func (o *overview) view(width, height int) []string {
	e := o.m.env
	if !e.poller.known {
		return []string{"", e.line(theme.Dim, "   reading")}
	}
	var lines []theme.Line
	panel := o.needsPanel()
	if width >= machine.Width+20 && height >= 14 {
		lines = machine.Draw(o.figures(), e.glyphs())
		for i := range lines {
			lines[i].Gap(machine.Width + 1)
			if i < len(panel) {
				lines[i].Append(panel[i])
			}
		}
	} else {
		lines = append(machine.Compact(o.figures(), e.glyphs()), theme.Line{})
		lines = append(lines, panel...)
	}
	lines = append(lines, theme.Line{})
	lines = append(lines, o.receiptsLine(width))
	var out []string
	for _, l := range lines {
		out = append(out, l.Draw(e.theme, width))
	}
	return out[:min(len(out), height)]
}

func (o *overview) needsPanel() []theme.Line {
	e := o.m.env
	var title theme.Line
	title.Add(theme.Title, "  needs a person")
	lines := []theme.Line{title}
	selected := o.selected().name
	for _, n := range o.needs() {
		var l theme.Line
		role := n.role
		if n.count.N == 0 {
			role = theme.Dim
		}
		text0 := text.PadRight(n.name, 6) + text.PadLeft(e.count(n.count), 8) + text.PadLeft(ageOf(n.age), 5)
		if n.name == selected {
			l.Add(theme.Selected, e.glyphs().Cursor+" "+text0)
		} else {
			l.Add(theme.Plain, "  ").Add(role, text0)
		}
		lines = append(lines, l)
	}
	for _, p := range e.poller.poll.Paused {
		var l theme.Line
		what := e.glyphs().Paused + " " + e.charset().Line(p.Kind, 12) + " paused"
		if selected == "paused "+p.Kind {
			l.Add(theme.Selected, e.glyphs().Cursor+" "+what)
		} else {
			l.Add(theme.Plain, "  ").Add(theme.Warn, what)
		}
		lines = append(lines, l)
	}
	return lines
}

func (o *overview) receiptsLine(width int) theme.Line {
	e := o.m.env
	var l theme.Line
	l.Add(theme.Title, " latest receipts")
	selected := o.selected().name
	for _, r := range o.receipts {
		what := e.charset().Line(r.ReceiptID, 20) + " " + e.charset().Line(r.Kind, 16) + " " + age(r.RecordedAge)
		if l.Width()+3+text.Width(what) > width {
			break
		}
		role := theme.Plain
		if selected == "receipt "+r.JobID {
			role = theme.Selected
		}
		l.Add(theme.Plain, "   ").Add(role, what)
	}
	return l
}
