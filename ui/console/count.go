package console

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// countDialog says what a count of everything costs, makes it, and shows what it found.
type countDialog struct {
	m       *model
	running bool
	ended   bool
	stopped bool
	stop    context.CancelFunc
	began   time.Time
	seen    store.Counting
	found   store.ExactCounts
	err     error
}

func (m *model) openCount() tea.Cmd {
	m.env.dialogs.push(m.env, &countDialog{m: m})
	return nil
}

func (d *countDialog) title() string    { return "Count every job" }
func (d *countDialog) wants() int       { return 68 }
func (d *countDialog) refresh() tea.Cmd { return nil }

func (d *countDialog) hints() []hint {
	switch {
	case d.running:
		return []hint{{"esc", "stop"}}
	case d.ended:
		return []hint{{"esc", "close"}}
	}
	return []hint{{"enter", "count"}, {"esc", "close"}}
}

func (d *countDialog) key(msg tea.KeyMsg) (bool, tea.Cmd) {
	name := msg.String()
	leaves := name == "esc" || slices.Contains(d.m.env.keymap.Get("quit").Keys, name)
	switch {
	case d.running:
		if leaves && !d.stopped {
			d.stopped = true
			d.stop()
		}
		return false, nil
	case leaves, d.ended && name == "enter":
		return true, nil
	case !d.ended && (name == "enter" || slices.Contains(d.m.env.keymap.Get("count").Keys, name)):
		return false, d.run()
	}
	return false, nil
}

// progressEvery is how often the count's progress is shown.
const progressEvery = 200 * time.Millisecond

// run counts. It is no read like the others, with their patience and within the share:
// somebody wants it now.
func (d *countDialog) run() tea.Cmd {
	e := d.m.env
	ctx, stop := context.WithCancel(e.ctx)
	d.running, d.stop, d.began = true, stop, e.now()
	db := e.DB
	steps := make(chan store.Counting, 1)
	result := make(chan func(), 1)
	all := func() tea.Msg {
		defer close(steps)
		told := time.Time{}
		found, err := db.CountExactly(ctx, 0, func(c store.Counting) {
			if now := time.Now(); now.Sub(told) >= progressEvery {
				select {
				case steps <- c:
					told = now
				default:
				}
			}
		})
		result <- func() { d.found, d.err = found, err }
		return nil
	}
	return tea.Batch(all, d.step(steps, result))
}

// step waits for what is told next, and at the end for what was found.
func (d *countDialog) step(steps <-chan store.Counting, result <-chan func()) tea.Cmd {
	return func() tea.Msg {
		c, more := <-steps
		if !more {
			return progress{func() tea.Cmd {
				(<-result)()
				d.finish()
				return nil
			}}
		}
		return progress{func() tea.Cmd {
			d.seen = c
			return d.step(steps, result)
		}}
	}
}

// finish shows what was found, here and on the screen.
func (d *countDialog) finish() {
	e := d.m.env
	d.stop()
	d.running, d.ended = false, true
	e.dialogs.quiet.begin(e.now())
	at := e.now().Add(-d.found.Age)
	for _, s := range d.found.States {
		if s.Count.Precision == store.Exact {
			e.counts.learn(s.State, s.Count, at)
		}
	}
}

func (d *countDialog) lines(width, height int) []theme.Line {
	switch {
	case d.running:
		return d.progressLines(width)
	case d.ended:
		return d.foundLines(width, height)
	}
	e := d.m.env
	n := store.Count{Precision: store.Estimated}
	more := ""
	for _, s := range e.poller.poll.States {
		c := e.figure(s.State)
		n.N += c.N
		if c.Precision == store.Capped {
			more = " or more"
		}
	}
	return slices.Concat(
		paragraph(theme.Plain, "Counts every job of every state, all at one moment. It has to read "+e.count(n)+" rows"+more+", by slices, in the indexes of the open jobs and of the receipts; that takes at most "+text.Duration(store.CountLimit)+", and esc stops it.", width),
		[]theme.Line{{}},
		paragraph(theme.Warn, "This goes beyond the share of "+text.Percent(e.poller.budget.total())+" of one core that all other reading keeps to, and until it ends VACUUM clears away nothing newer.", width),
	)
}

func (d *countDialog) progressLines(width int) []theme.Line {
	e := d.m.env
	var bar, sum, clock theme.Line
	far := text.Count(d.seen.Counted)
	if d.seen.Expected > 0 {
		bar.Add(theme.Info, progressBar(e, width, int(min(d.seen.Counted, d.seen.Expected)), int(d.seen.Expected)))
		far += " of " + e.charset().Estimated(d.seen.Expected)
	}
	sum.Add(theme.Plain, far+" counted")
	if d.seen.State != "" {
		sum.Add(theme.Dim, "   now "+d.seen.State)
	}
	clock.Add(theme.Plain, seconds(e.now().Sub(d.began).Truncate(time.Second))+" of at most "+text.Duration(store.CountLimit))
	lines := []theme.Line{bar, sum, clock, {}}
	if d.stopped {
		return append(lines, paragraph(theme.Warn, "stopping", width)...)
	}
	return append(lines, paragraph(theme.Dim, "What it reads is not charged to the share: polls go on as before.", width)...)
}

func (d *countDialog) foundLines(width, height int) []theme.Line {
	e := d.m.env
	var lines []theme.Line
	all := store.Count{N: d.found.Counted, Precision: store.Exact}
	column := 0
	for _, s := range d.found.States {
		if s.Count.Precision != store.Exact {
			all.Precision = store.Capped
		}
	}
	column = text.Width(e.count(all))
	row := func(r theme.Role, name string, c store.Count) {
		var l theme.Line
		l.Add(theme.Plain, text.PadRight(name, 10))
		switch {
		case c.Precision == store.Exact:
			l.Add(r, text.PadLeft(e.count(c), column))
		case c.N == 0:
			l.Add(theme.Dim, text.PadLeft("-", column)+"   not counted")
		default:
			l.Add(r, text.PadLeft(e.count(c), column)).Add(theme.Dim, "   at least")
		}
		lines = append(lines, l)
	}
	for _, s := range d.found.States {
		row(theme.Strong, s.State, s.Count)
	}
	row(theme.Title, "all", all)
	var tail []theme.Line
	var problem *store.Problem
	switch {
	case errors.As(d.err, &problem): // which says how far it came, also where it was stopped
		tail = paragraph(theme.Warn, e.safe(problem.Error())+".", width)
	case d.err != nil:
		tail = paragraph(theme.Bad, e.words(d.err), width)
	}
	cost := "Took " + text.Duration(d.found.Elapsed) + ", " + text.Duration(d.found.ServerCost) + " of it the server's time, beyond the share of " + text.Percent(e.poller.budget.total()) + "."
	return headAndTail(e, lines, append(tail, paragraph(theme.Dim, cost, width)...), height)
}
