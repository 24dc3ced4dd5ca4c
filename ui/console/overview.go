package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/machine"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// overview is the first screen: the state machine, what needs a person, the kinds, the
// latest receipts, the database. Every figure leads to its list.
type overview struct {
	m    *model
	data store.Overview
	read bool
	at   time.Time // this machine's clock when data came
	err  error

	contradictions []store.Contradiction
	looked         time.Time // for contradictions; zero: not yet

	waiting []store.Job // the stuck ones and those in review, longest waiting first
	spare   int         // lines that the last view had to show them in

	selected  string // the name of a link
	kindsFrom int
}

// The slower beats of what is dearer than a poll.
const (
	overviewEvery = 10 * time.Second
	doctorEvery   = time.Minute
)

func newOverview(m *model) *overview { return &overview{m: m} }

func (o *overview) place() place               { return place{view: "overview"} }
func (o *overview) enter(string, bool) tea.Cmd { return o.refresh() }
func (o *overview) clear() bool                { return false }

func (o *overview) refresh() tea.Cmd {
	e := o.m.env
	now := e.now()
	var cmds []tea.Cmd
	budget := &e.poller.budget
	due := now.Sub(o.at) >= budget.every(beatOverview, overviewEvery) && budget.room(now, beatOverview) == 0
	if !e.asking("overview") && (!o.read || due || o.m.forced) {
		cmds = append(cmds, ask(e, "overview", e.DB.Overview, func(d store.Overview, err error) tea.Cmd {
			if o.err = err; err == nil {
				o.data, o.read, o.at = d, true, e.now()
				budget.read(beatOverview, overviewEvery, d.ServerCost)
				e.poller.apart += d.ServerCost
				slices.SortStableFunc(o.data.Kinds, byTrouble)
			}
			return nil
		}))
	}
	if !e.asking("doctor") && (o.looked.IsZero() || now.Sub(o.looked) >= doctorEvery && budget.room(now, beatLook) == 0 || o.m.forced) {
		db := e.DB
		cmds = append(cmds, ask(e, "doctor", func(ctx context.Context) ([]store.Contradiction, error) {
			found, _, err := db.ContradictionsNow(ctx)
			return found, err
		}, func(found []store.Contradiction, err error) tea.Cmd {
			if err == nil {
				o.contradictions = found
			}
			o.looked = e.now()
			return nil
		}))
	}
	return tea.Batch(append(cmds, o.readWaiting())...)
}

// link is something on the overview that leads somewhere. Links of a section follow each
// other; a row of kinds has several.
type link struct {
	name    string
	section int
	row     int // within the section; links of one row stand beside each other
	to      place
	open    func() tea.Cmd // instead of to
}

// The sections, in the order of the screen.
const (
	sectionNeeds = iota
	sectionStates
	sectionKinds
	sectionWaiting
	sectionReceipts
)

// links are all that the selection goes through.
func (o *overview) links() []link {
	var links []link
	for i, n := range o.needs() {
		links = append(links, link{"need " + n.name, sectionNeeds, i, n.to, n.open})
	}
	for _, state := range []string{"pending", "running", "done", "review", "failed", "dead"} {
		to := place{"jobs", "state:" + state}
		if state == "review" {
			to = place{view: "review"}
		}
		links = append(links, link{"state " + state, sectionStates, 0, to, nil})
	}
	for i, k := range o.data.Kinds {
		for _, c := range kindColumns {
			if c.filter != "" {
				links = append(links, link{"kind " + c.title + " " + k.Kind, sectionKinds, i, kindPlace(k.Kind, c.filter), nil})
			}
		}
	}
	for i, j := range o.shownWaiting() {
		links = append(links, link{"job " + j.ID, sectionWaiting, i, place{"job", j.ID}, nil})
	}
	for i, r := range o.data.Receipts {
		links = append(links, link{"receipt " + r.JobID, sectionReceipts, i, place{"job", r.JobID}, nil})
	}
	return links
}

// current is the selected link, and its number.
func (o *overview) current() (link, int) {
	links := o.links()
	i := max(0, slices.IndexFunc(links, func(l link) bool { return l.name == o.selected }))
	if len(links) == 0 {
		return link{}, 0
	}
	return links[i], i
}

func (o *overview) is(name string) bool {
	l, _ := o.current()
	return l.name == name
}

// step goes along the links, one by one or row by row.
func (o *overview) step(by int, rows bool) {
	links := o.links()
	here, i := o.current()
	if !rows || here.section != sectionKinds {
		o.selected = links[max(0, min(i+by, len(links)-1))].name
		return
	}
	// Down a column: the same figure of the next kind.
	columns := 0
	for _, c := range kindColumns {
		if c.filter != "" {
			columns++
		}
	}
	to := i + by*columns
	first := slices.IndexFunc(links, func(l link) bool { return l.section == sectionKinds })
	switch {
	case to < first:
		to = first - 1
	case to >= len(links) || links[to].section != sectionKinds:
		to = slices.IndexFunc(links, func(l link) bool { return l.section > sectionKinds })
		if to < 0 {
			to = i
		}
	}
	o.selected = links[to].name
}

// turn goes to the first link of the next section, or the one before.
func (o *overview) turn(by int) {
	links := o.links()
	here, _ := o.current()
	for section := here.section + by; ; section += by {
		section = (section + sectionReceipts + 1) % (sectionReceipts + 1)
		if i := slices.IndexFunc(links, func(l link) bool { return l.section == section }); i >= 0 {
			o.selected = links[i].name
			return
		}
	}
}

func (o *overview) bindings() []binding {
	e := o.m.env
	move := func(by int, rows bool) func() tea.Cmd { return does(func() { o.step(by, rows) }) }
	return []binding{
		e.bind("down", 0, move(1, true), nil),
		e.bind("up", 0, move(-1, true), nil),
		e.bind("right", 0, move(1, false), nil),
		e.bind("left", 0, move(-1, false), nil),
		e.bind("top", 0, move(-1e6, false), nil),
		e.bind("bottom", 0, move(1e6, false), nil),
		e.bind("section", 20, does(func() { o.turn(1) }), nil),
		e.bind("section-back", 0, does(func() { o.turn(-1) }), nil),
		e.bind("open", 10, o.open, nil),
	}
}

func (o *overview) open() tea.Cmd {
	l, _ := o.current()
	if l.open != nil {
		return l.open()
	}
	return o.m.visit(l.to)
}

func (o *overview) info() string {
	if !o.read {
		return ""
	}
	info := fmt.Sprintf("rates of the last %d min", int(store.RateWindow.Minutes()))
	if old := o.m.env.now().Sub(o.at); old > 3*overviewEvery {
		info += ", " + text.Age(old.Truncate(10*time.Second)) + " old"
	}
	switch counted := o.m.env.counted(); {
	case counted == "":
		return info
	case o.m.env.width < 80:
		return counted // there is no room for both
	default:
		return counted + "; " + info
	}
}

// showContradictions explains the rows that contradict themselves.
func (o *overview) showContradictions() tea.Cmd {
	e := o.m.env
	found := o.contradictions
	e.dialogs.push(e, &pager{e: e, name: "Rows that contradict themselves", make: func(width int) []theme.Line {
		lines := paragraph(theme.Dim, "Among the jobs that changed last; jobtop doctor looks at all of them.", width)
		if len(found) == 0 {
			lines = append(lines, paragraph(theme.Plain, "None.", width)...)
		}
		for _, c := range found {
			d := actions.Diagnose(c)
			lines = append(lines, theme.Line{})
			lines = append(lines, paragraph(theme.Strong, e.safe(c.JobID)+" ("+e.safe(c.Kind)+")", width)...)
			lines = append(lines, paragraph(theme.Warn, e.safe(d.What)+".", width)...)
			lines = append(lines, paragraph(theme.Plain, "To mend it: "+e.safe(d.Mend)+".", width)...)
		}
		return lines
	}})
	return nil
}

// view lays the parts out: side by side where there is room, else one under the other.
func (o *overview) view(width, height int) []string {
	e := o.m.env
	if !e.poller.known {
		return []string{"", e.line(theme.Dim, "   reading")}
	}
	var lines []theme.Line
	roomy := width >= machine.Width+21 && height >= 17
	if roomy {
		lines = machine.Draw(o.figures(machine.Width), e.glyphs())
		panel := o.needsPanel(width - machine.Width - 1)
		for i := range lines {
			if i < len(panel) {
				lines[i].Gap(machine.Width + 1).Append(panel[i])
			}
		}
	} else {
		f := o.figures(machine.CompactWidth)
		lines = machine.Compact(f, e.glyphs())
		if lines[0].Width() > width {
			f.Claimed, f.Completed = "", "" // the figures come before the rates
			lines = machine.Compact(f, e.glyphs())
		}
		lines = append(lines, o.needsLine())
	}
	if o.err != nil {
		var l theme.Line
		lines = append(lines, *l.Add(theme.Bad, " "+e.words(o.err)))
	}
	foot := []theme.Line{o.receiptsLine(width), o.databaseLine()}
	spare := height - len(lines) - len(foot)
	tall := spare >= len(o.data.Kinds)+9
	bars := 1
	if tall {
		bars = 3
		lines = append(lines, theme.Line{})
	}
	lines = append(lines, o.throughput(width, bars)...)
	if tall {
		lines = append(lines, theme.Line{})
		foot = append([]theme.Line{{}}, foot...)
	}
	lines = append(lines, o.kinds(width, height-len(lines)-len(foot))...)
	o.spare = height - len(lines) - len(foot) - 2 // a blank line and a title
	if shown := o.shownWaiting(); len(shown) > 0 {
		lines = append(lines, o.waitingLines(shown, width)...)
	}
	lines = append(lines, foot...)
	out := make([]string, 0, height)
	for _, l := range lines[:min(len(lines), height)] {
		out = append(out, l.Draw(e.theme, width))
	}
	return out
}
