package console

import (
	"errors"
	"math/rand/v2"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// poller looks at the database again and again: one look in flight at a time, the next
// timed from the end of the last.
type poller struct {
	poll  store.Poll
	known bool
	at    time.Time // this machine's clock when poll came
	looks int

	refresh time.Duration // as chosen
	wait    time.Duration // as used: refresh, or longer to keep to the share
	paused  bool

	budget   budget
	spent    time.Duration // the reader's ServerTime at the last look
	apart    time.Duration // of it since then: what reads with a beat of their own cost
	told     string        // what was said about it
	insisted time.Time     // when a look at once was asked for that had no room

	err      error
	failures int
	since    time.Time // of the first failure
	next     time.Time // of the next try
}

const (
	leastRefresh = 500 * time.Millisecond
	mostRefresh  = time.Minute
	// mostBackoff keeps a recovery from going unseen: a try on a server that answers nothing
	// takes the store's five seconds to connect, so that the next is never further off than eight.
	mostBackoff = 3 * time.Second
	// serverEvery is after how many looks the server's own facts are read again.
	serverEvery = 15
	// grace is how late an answer may be before the screen says so.
	grace = time.Second
)

// look starts a look unless one is in flight, or its share of the server is used up.
func (m *model) look() tea.Cmd {
	e := m.env
	if e.asking("poll") {
		return nil
	}
	if wait := e.poller.budget.room(e.now(), beatLook); wait > 0 && e.poller.known {
		e.poller.wait = max(e.poller.wait, e.now().Sub(e.poller.at)+wait) // late as it is, it is no failure
		return e.alarm("look", wait, m.look)
	}
	return m.lookNow()
}

func (m *model) lookNow() tea.Cmd {
	e := m.env
	if e.asking("poll") {
		return nil
	}
	delete(e.alarms, "look")
	cmds := []tea.Cmd{
		ask(e, "poll", e.DB.Poll, m.looked),
		e.alarm("late", e.poller.wait+grace, m.late),
	}
	if !e.server.known || e.poller.looks%serverEvery == 0 {
		cmds = append(cmds, m.askServer())
	}
	e.poller.looks++
	return tea.Batch(cmds...)
}

// late draws again while the data grows old, and does nothing at other times.
func (m *model) late() tea.Cmd {
	if e := m.env; e.asking("poll") || e.poller.failures > 0 {
		return e.alarm("late", 5*time.Second, m.late)
	}
	return nil
}

func (m *model) looked(p store.Poll, err error) tea.Cmd {
	e := m.env
	if err != nil {
		return m.failed(err)
	}
	recovered := e.poller.failures > 0
	before, known := e.poller.poll, e.poller.known
	e.poller.poll, e.poller.known, e.poller.at = p, true, e.now()
	e.poller.err, e.poller.failures = nil, 0
	e.poller.budget.consoles = p.Consoles
	slowed := e.poller.slowed()
	e.poller.paid(e.DB.ServerTime())
	e.poller.wait = e.poller.pace(e.now())
	switch told := e.poller.told; {
	case e.poller.slowed() && !slowed && e.status.text == "":
		e.say(theme.Warn, e.poller.why())
		e.poller.told = e.status.text
	case !e.poller.slowed() && told != "" && e.status.text == told:
		e.status = status{}
	}

	var cmds []tea.Cmd
	if recovered {
		e.say(theme.Good, "the database answers again")
		cmds = append(cmds, m.askServer())
	}
	if m.unrecovered {
		m.unrecovered = false
		cmds = append(cmds, m.recover())
	}
	if known {
		cmds = append(cmds, m.notice(before, p))
	}
	if !e.poller.paused {
		cmds = append(cmds, m.refreshAll(), m.count(), e.alarm("look", e.poller.wait, m.look))
	}
	cmds = append(cmds, m.settleUnknown())
	return tea.Batch(cmds...)
}

// The beats that reading keeps.
const (
	beatLook     = "look" // the poll and what is shown
	beatOverview = "overview"
)

// paid notes what the last look cost: all that was read since the one before, but for
// what has a beat of its own.
func (p *poller) paid(spent time.Duration) {
	p.budget.read(beatLook, p.refresh, max(0, spent-p.spent-p.apart))
	p.spent, p.apart = spent, 0
}

// pace is how long to wait before the next look.
func (p *poller) pace(now time.Time) time.Duration {
	every, room := p.budget.every(beatLook, p.refresh), p.budget.room(now, beatLook)
	if room <= every {
		return every
	}
	return stepUp(room)
}

// slowed reports whether looks come more seldom than was chosen.
func (p *poller) slowed() bool { return p.known && p.wait > p.refresh }

// why says why they do.
func (p *poller) why() string { return p.budget.why(beatLook, "a look", p.wait) }

func (m *model) failed(err error) tea.Cmd {
	p := &m.env.poller
	if p.failures == 0 {
		p.since = m.env.now()
	}
	p.failures++
	p.err = err
	if errors.Is(err, store.ErrSchema) || errors.Is(err, store.ErrNoRights) {
		m.env.server.known = false
	}
	wait, again := backoff(p.failures, rand.Float64()), m.lookNow
	if spent := m.env.DB.ServerTime(); spent > p.spent+p.apart && !errors.Is(err, store.ErrUnreachable) {
		// It brought nothing, and yet it took the time of a server that is there.
		p.paid(spent)
		wait, again = max(wait, p.pace(m.env.now())), m.look
	}
	p.next = m.env.now().Add(wait)
	return tea.Batch(m.env.alarm("look", wait, again), m.env.alarm("late", 5*time.Second, m.late))
}

// backoff doubles from a second to mostBackoff, with up to a quarter of jitter, so that
// many consoles do not return at once.
func backoff(failures int, random float64) time.Duration {
	wait := min(time.Second<<min(failures-1, 10), mostBackoff)
	return wait - time.Duration(float64(wait)*random/4)
}

// refreshAll reads again what is shown.
func (m *model) refreshAll() tea.Cmd {
	var cmds []tea.Cmd
	if s := m.screen(); s != nil {
		cmds = append(cmds, s.refresh())
	}
	for _, d := range m.env.dialogs.open {
		cmds = append(cmds, d.refresh())
	}
	return tea.Batch(cmds...)
}

func (m *model) askServer() tea.Cmd {
	return ask(m.env, "server", m.env.DB.Server, func(s store.Server, err error) tea.Cmd {
		e := m.env
		if err != nil && !errors.Is(err, store.ErrNoRights) {
			return nil // the poll says so too
		}
		before := e.server
		e.server = server{Server: s, known: true}
		if s.Schema.Current() {
			if err := actions.CompareEdges(s.Edges); err != nil {
				e.server.edges = e.words(err)
			}
		}
		switch {
		case !before.known:
		case before.Host != s.Host:
			e.counts = counts{}
			e.say(theme.Warn, "now on "+s.Host+", before on "+before.Host)
		case before.Replica && !s.Replica:
			e.say(theme.Good, s.Host+" is the primary now")
		case !before.Replica && s.Replica:
			e.say(theme.Warn, s.Host+" is a replica now: read-only")
		}
		return nil
	})
}

// readOnly is why nothing can be changed here, "" if it can.
func (e *env) readOnly() string {
	s := e.server
	switch {
	case e.ReadOnly != "":
		return e.ReadOnly
	case e.Runner == nil:
		return "this console was started without the means to act"
	case !s.known:
		return "the database has not answered yet"
	case !s.Schema.Current():
		return e.words(&store.SchemaError{Status: s.Schema})
	case s.edges != "":
		return s.edges
	case s.Replica:
		return "this server is a replica; connect to the primary"
	case !s.CanAct:
		return "the role " + e.safe(s.Role) + " may not act; ask for jobtop_operator"
	case s.WritesOff:
		return "default_transaction_read_only is on for this connection"
	}
	return ""
}

// freshness is the age and the cost of what is on the screen. It stays the same from look
// to look unless something is the matter.
func (e *env) freshness() (string, theme.Role) {
	p := e.poller
	if !p.known {
		return "no data yet", theme.Warn
	}
	old := e.now().Sub(p.at)
	bound := p.wait + grace
	if p.failures == 0 && old <= bound+grace && !p.paused {
		shown := cost(p.poll.RoundTrip) + "  <" + text.Age(bound+time.Second-1) + " old"
		if p.slowed() {
			shown = "every " + seconds(p.wait) + "  " + shown // to keep within the share
		}
		return shown, theme.Dim
	}
	shown := "<5s old"
	if old >= 5*time.Second {
		shown = text.Age(old.Truncate(5*time.Second)) + " old"
	}
	if p.paused {
		return "paused  " + shown, theme.Warn
	}
	return "STALE  " + shown, theme.Warn
}

// cost rounds how long a look took, so that it seldom changes.
func cost(d time.Duration) string {
	for _, milliseconds := range []int{5, 10, 20, 50, 100, 200, 500, 1000, 2000} {
		if bound := time.Duration(milliseconds) * time.Millisecond; d < bound {
			return "<" + text.Duration(bound)
		}
	}
	return text.Duration(d.Truncate(time.Second))
}

// banner is what is the matter with everything, "" when nothing is.
func (e *env) banner() (string, theme.Role) {
	p := e.poller
	if p.failures > 0 {
		line := e.words(p.err) + "; since " + clock(p.since) + ", next try " + clock(p.next)
		if e.asking("poll") {
			line = e.words(p.err) + "; since " + clock(p.since) + ", trying now"
		}
		if p.known {
			line += "; what you see is from " + clock(p.at)
		}
		return line, theme.Bad
	}
	if p.known && p.poll.HeartbeatsStopped() {
		return "heartbeats stopped everywhere " + age(*p.poll.NewestHeartbeat) + " ago: suspect the database or the network, not the jobs", theme.Bad
	}
	return "", theme.Plain
}

func stateCount(p store.Poll, state string) store.StateCount { return p.State(state) }

// clock writes a time of this machine's clock.
func clock(t time.Time) string { return t.Format("15:04:05") }

// count writes a count with its precision.
func (e *env) count(c store.Count) string { return e.charset().Measured(c.N, string(c.Precision)) }
