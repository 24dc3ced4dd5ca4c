package console

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
)

// counts are exact figures where a look brings none: of states with very many jobs, which
// it caps, and of the done ones, which it estimates. They are counted in the background,
// one small read after a look, of what the share has to spare; or all at once, when
// somebody asks.
type counts struct {
	known map[string]known // by state

	open   countBeat
	bound  int64 // how far open states are counted
	read   int64 // how many rows open.cost is for
	done   countBeat
	tally  store.DoneTally
	since  time.Time     // when the tally began
	perRow time.Duration // what a row of it costs
}

// known is a figure and when it was so, by this machine's clock.
type known struct {
	count store.Count
	at    time.Time
}

// countBeat is when a read was last begun and what it cost.
type countBeat struct {
	at   time.Time
	cost time.Duration
}

// The bounds of counting in the background.
const (
	countEvery = 10 * time.Second // at most
	// countsLast is how long a figure is shown after it was so.
	countsLast = 10 * time.Minute
	// recountEvery is how often all done jobs are counted again, whatever is known: a
	// superuser can add receipts with a time of the past.
	recountEvery = 4 * time.Hour
	// countRetry is how long after an error the next try is.
	countRetry = time.Minute

	// A slice is small, and large beside what finding its place costs.
	leastSlice, mostSlice = 20_000, 50_000 // rows
	leastBound            = 50_000         // rows
	// countReserve is the part of the share that looks leave to counting, however dear they are.
	countReserve = 0.1
	// mostOpen is how long one read of the open jobs may save up for.
	mostOpen = 30 * time.Second
)

// count begins the next read of what is to be counted, if there is room for one.
func (m *model) count() tea.Cmd {
	e := m.env
	if e.asking("count") || e.poller.paused {
		return nil
	}
	var capped []string
	estimated := false
	for _, s := range e.poller.poll.States {
		switch {
		case s.Count.Precision == store.Exact:
			delete(e.counts.known, s.State) // the look knows better
		case s.State == "done":
			estimated = !e.server.Replica
		default:
			capped = append(capped, s.State)
		}
	}
	budget := &e.poller.budget
	budget.reserved = 0
	if len(capped) > 0 || estimated {
		budget.reserved = countReserve
	}
	forOpen, forDone := budget.leftover(), budget.leftover()
	turn := true // of the open ones
	if len(capped) > 0 && estimated && !e.counts.tally.Known {
		// They take turns. The done ones have to be gone through only once.
		forOpen, forDone = forOpen/4, forDone*3/4
		turn = !e.counts.open.at.After(e.counts.done.at)
	}
	if len(capped) > 0 && turn {
		if cmd := m.countOpen(capped, forOpen); cmd != nil {
			return cmd
		}
	}
	if estimated {
		return m.countDone(forDone)
	}
	return nil
}

// countOpen counts states that a look caps, at one moment, no further than a bound that
// grows as long as it is cheap.
func (m *model) countOpen(states []string, part float64) tea.Cmd {
	e := m.env
	c, budget, now := &e.counts, &e.poller.budget, e.now()
	if now.Sub(c.open.at) < max(countEvery, time.Duration(float64(c.open.cost)/part)) {
		return nil
	}
	c.bound = max(c.bound, leastBound)
	most := time.Duration(part * float64(mostOpen))
	bound, free := c.bound, min(budget.free(now, beatLook), most)
	if c.open.cost > free { // then not as far this time
		bound = int64(float64(c.read) * float64(free) / float64(c.open.cost) / float64(len(states)))
	}
	if bound < leastBound {
		return nil
	}
	c.open.at = now
	db := e.DB
	type answer struct {
		counts map[string]store.Count
		cost   time.Duration
	}
	return ask(e, "count", func(ctx context.Context) (answer, error) {
		counts, cost, err := db.CountOpen(ctx, states, bound)
		return answer{counts, cost}, err
	}, func(a answer, err error) tea.Cmd {
		if err != nil {
			c.open.at = now.Add(countRetry)
			return nil
		}
		e.poller.apart += a.cost
		c.open.cost, c.read = a.cost, 0
		full := false
		for state, n := range a.counts {
			c.learn(state, n, now)
			c.read += n.N
			full = full || n.Precision != store.Exact
		}
		if full && bound == c.bound {
			c.widen(a.cost, most)
		}
		return nil
	})
}

// widen lets open states be counted further, up to twice as far, while that costs no more
// than most.
func (c *counts) widen(cost, most time.Duration) {
	const step = 10_000
	factor := min(2, float64(most)/float64(max(cost, 1)))
	if to := int64(float64(c.bound)*factor) / step * step; to > c.bound {
		c.bound, c.read, c.open.cost = to, int64(float64(c.read)*factor), time.Duration(float64(cost)*factor)
	}
}

// countDone counts the next slice of the done jobs, or when it is through with them those
// that came since.
func (m *model) countDone(part float64) tea.Cmd {
	e := m.env
	c, budget, now := &e.counts, &e.poller.budget, e.now()
	if now.Sub(c.since) >= recountEvery {
		c.tally, c.since = store.DoneTally{}, now
	}
	if c.perRow == 0 {
		c.perRow = 400 * time.Nanosecond // until it is measured
	}
	spend := time.Duration(part * float64(min(now.Sub(c.done.at), mostWait)))
	rows := min(int64(spend/c.perRow), mostSlice)
	cost := time.Duration(rows) * c.perRow
	if c.tally.Known {
		cost = c.done.cost
		rows = max(rows, leastSlice)
		if now.Sub(c.done.at) < countEvery || cost > spend {
			return nil
		}
	}
	if rows < leastSlice || cost > budget.free(now, beatLook) {
		return nil
	}
	c.done.at = now
	db, tally := e.DB, c.tally
	return ask(e, "count", func(ctx context.Context) (store.DoneTally, error) {
		return db.TallyDone(ctx, tally, rows)
	}, func(t store.DoneTally, err error) tea.Cmd {
		if err != nil {
			c.done.at = now.Add(countRetry)
			return nil
		}
		e.poller.apart += t.Cost
		c.tally, c.done.cost = t, t.Cost
		if t.Counted > tally.Counted {
			c.perRow = max(t.Cost/time.Duration(rows), time.Nanosecond)
		}
		if t.Known {
			c.learn("done", t.Count, now)
		}
		return nil
	})
}

// learn takes a figure down that was so at a moment. That there are at least so many says
// nothing beside a recent count of more.
func (c *counts) learn(state string, n store.Count, at time.Time) {
	if c.known == nil {
		c.known = map[string]known{}
	}
	older, newer := c.known[state], known{n, at}
	if older.at.After(at) {
		older, newer = newer, older
	}
	if newer.count.Precision != store.Exact && older.count.N >= newer.count.N && newer.at.Sub(older.at) < countsLast {
		newer = older
	}
	c.known[state] = newer
}

// figure is how many jobs are in a state as well as it is known: by the last look, or by a
// count from before it.
func (e *env) figure(state string) store.Count {
	looked := stateCount(e.poller.poll, state).Count
	k, ok := e.counts.known[state]
	old := e.poller.at.Sub(k.at)
	switch {
	case !ok || looked.Precision == store.Exact || old > countsLast:
		return looked
	case looked.Precision == store.Capped && k.count.N <= looked.N:
		return looked // which has overtaken it
	case looked.Precision == store.Estimated && k.count.Precision != store.Exact:
		return looked
	}
	k.count.Age = max(0, old)
	return k.count
}

// unsaid is how old a figure may be without being said to be.
const unsaid = 20 * time.Second

// counted says how old the figures are that are not of now, "" if all are.
func (e *env) counted() string {
	var states []string
	oldest := time.Duration(0)
	for _, s := range e.poller.poll.States {
		if c := e.figure(s.State); c.Age >= unsaid {
			states = append(states, s.State)
			oldest = max(oldest, c.Age)
		}
	}
	if len(states) == 0 {
		return ""
	}
	return strings.Join(states, ", ") + " counted " + age(oldest) + " ago"
}

// within writes a count in at most some columns, to three figures where it has more.
func (e *env) within(c store.Count, columns int) string {
	s := e.count(c)
	if text.Width(s) <= columns {
		return s
	}
	s = e.charset().Estimated(c.N)
	if c.Precision == store.Capped {
		s += "+"
	}
	return s
}
