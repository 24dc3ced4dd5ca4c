package console

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/keys"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// model is the whole console. Update is its only writer.
type model struct {
	env     *env
	screens map[string]screen // the main ones, by their view
	trail   []screen          // how one came here: the breadcrumb
	history history
	prompt  *prompt
	news    news

	findings    map[string]*finding // what was looked up, by job
	commands    []string            // what was typed after the colon
	copied      string              // what was copied last
	leaving     bool                // asked for once, while acts were under way
	unrecovered bool                // the database was away when old acts were to be settled
	forced      bool                // what has a slower beat is read now too
	pending     []tea.Cmd           // of handlers that return none themselves
}

func newModel(ctx context.Context, o Options) (*model, error) {
	charset := text.Unicode
	if o.ASCII {
		charset = text.ASCII
	}
	name := o.Config.Theme
	if o.NoColor {
		name = "none"
	}
	th, err := theme.New(name, charset)
	if err != nil {
		return nil, err
	}
	keymap, err := keys.New(o.Config.Keys)
	if err != nil {
		return nil, err
	}
	th.Paint(o.Config.Profiles[o.Profile].Colour.String())
	refresh := o.Refresh
	if refresh == 0 {
		refresh = DefaultRefresh
	}
	refresh = min(max(refresh, leastRefresh), mostRefresh)
	e := &env{
		Options: o, ctx: ctx, theme: th, keymap: keymap,
		now:      time.Now,
		after:    func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) },
		requests: requests{open: map[string]int{}},
		alarms:   map[string]int{},
		poller:   poller{refresh: refresh, wait: refresh, budget: budget{share: o.Config.Share}},
	}
	m := &model{env: e, findings: map[string]*finding{}}
	e.ledger.of = map[string]*entry{}
	m.screens = map[string]screen{
		"overview": newOverview(m),
		"stuck":    newList(m, stuckList),
		"review":   newList(m, reviewList),
		"jobs":     newList(m, jobsList),
		"actions":  newActionLog(m),
	}
	m.trail = []screen{m.screens["overview"]}
	return m, m.choose(o.Config)
}

// screen is the one on top.
func (m *model) screen() screen { return m.trail[len(m.trail)-1] }

// Init begins with the first look and the place asked for.
func (m *model) Init() tea.Cmd {
	return tea.Batch(m.look(), m.begin(), m.recover())
}

// begin goes to the place asked for.
func (m *model) begin() tea.Cmd {
	m.history.visit(m.screen().place())
	if m.env.View == "" {
		return m.screen().enter("", false)
	}
	return m.run(m.env.View)
}

// Update is told of everything that happens.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmds := []tea.Cmd{m.handle(msg)}
	cmds = append(cmds, m.pending...)
	m.pending = nil
	return m, tea.Batch(cmds...)
}

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.env.width, m.env.height = msg.Width, msg.Height
	case tea.KeyMsg:
		return m.keys(msg)
	case answer:
		return m.env.accept(msg)
	case alarm:
		return m.env.ring(msg)
	case progress:
		return msg.then()
	case tea.ResumeMsg:
		return tea.Batch(tea.ClearScreen, m.look())
	}
	return nil
}

// later runs a command after this Update, for handlers that return none.
func (m *model) later(cmd tea.Cmd) { m.pending = append(m.pending, cmd) }

// keys takes what was typed apart: several letters that came at once are several keys.
func (m *model) keys(msg tea.KeyMsg) tea.Cmd {
	if msg.Alt && m.env.dialogs.top() == nil && m.prompt == nil && !m.bound(msg.String()) {
		// esc and a key that came at once.
		return tea.Batch(m.key(tea.KeyMsg{Type: tea.KeyEsc}), m.keys(tea.KeyMsg{Type: msg.Type, Runes: msg.Runes}))
	}
	if msg.Type != tea.KeyRunes || msg.Paste || len(msg.Runes) < 2 {
		return m.key(msg)
	}
	cmds := make([]tea.Cmd, 0, len(msg.Runes))
	for _, r := range msg.Runes {
		cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
	}
	return tea.Batch(cmds...)
}

func (m *model) bound(key string) bool {
	return slices.ContainsFunc(m.env.keymap.All(), func(b keys.Binding) bool { return slices.Contains(b.Keys, key) })
}

// key goes to whoever is on top: a dialog, the line being typed, the screen.
func (m *model) key(msg tea.KeyMsg) tea.Cmd {
	e := m.env
	if msg.Type == tea.KeyCtrlC {
		return m.leave()
	}
	if e.tooSmall() {
		return nil // nobody sees what a key would do
	}
	if d := e.dialogs.top(); d != nil {
		return e.dialogs.key(e, msg)
	}
	if m.prompt != nil {
		return m.prompt.key(m, msg)
	}
	if msg.Paste {
		e.say(theme.Warn, "pasted text goes nowhere here; / filters, : takes commands")
		return nil
	}
	name := msg.String()
	for _, b := range m.bindings() {
		for _, k := range b.Keys {
			if k == name {
				e.status = status{}
				return b.press(e)
			}
		}
	}
	return nil
}

// bindings are all keys that work now, those of the screen first.
func (m *model) bindings() []binding { return append(m.screen().bindings(), m.global()...) }

func (m *model) global() []binding {
	e := m.env
	to := func(view string) func() tea.Cmd { return func() tea.Cmd { return m.comeBack(view) } }
	return []binding{
		e.bind("overview", 0, to("overview"), nil),
		e.bind("stuck", 0, to("stuck"), nil),
		e.bind("review", 0, to("review"), nil),
		e.bind("jobs", 0, to("jobs"), nil),
		e.bind("actions", 0, to("actions"), nil),
		e.bind("back", 85, m.back, func() string {
			if len(m.trail) == 1 {
				return "this is the overview; " + e.keymap.Get("quit").First() + " quits"
			}
			return ""
		}),
		e.bind("older", 0, func() tea.Cmd { return m.goTo(m.history.back(), false) }, func() string { return m.history.why(-1) }),
		e.bind("newer", 0, func() tea.Cmd { return m.goTo(m.history.forward(), false) }, func() string { return m.history.why(1) }),
		e.bind("results", 0, m.showLedger, func() string {
			if len(e.ledger.log) == 0 {
				return "no acts so far"
			}
			return ""
		}),
		e.bind("pause", 0, m.pause, nil),
		e.bind("faster", 0, func() tea.Cmd { return m.pace(-1) }, nil),
		e.bind("slower", 0, func() tea.Cmd { return m.pace(1) }, nil),
		e.bind("refresh", 0, m.refreshNow, nil),
		e.bind("count", 0, m.openCount, nil),
		e.bind("redraw", 0, func() tea.Cmd { return tea.ClearScreen }, nil),
		e.bind("command", 80, m.askCommand, nil),
		e.bind("help", 90, m.showHelp, nil),
		e.bind("suspend", 0, func() tea.Cmd { return tea.Suspend }, nil),
		e.bind("quit", 95, m.quit, nil),
		e.bind("leave", 0, m.leave, nil),
	}
}

// back clears what narrows the view, and where nothing does goes up the trail.
func (m *model) back() tea.Cmd {
	if m.screen().clear() || len(m.trail) == 1 {
		return nil
	}
	return m.up()
}

func (m *model) up() tea.Cmd {
	m.trail = m.trail[:len(m.trail)-1]
	m.history.visit(m.screen().place())
	return m.screen().refresh()
}

func (m *model) quit() tea.Cmd {
	if len(m.trail) > 1 {
		return m.up()
	}
	return m.leave()
}

// insistFor is how long after a look at once had no room another one may do without.
const insistFor = 10 * time.Second

// refreshNow is a look at once, also while the screen is paused. It counts for the budget:
// where that is used up it says so, and asked for again it looks all the same.
func (m *model) refreshNow() tea.Cmd {
	e := m.env
	p := &e.poller
	now := e.now()
	insists := now.Sub(p.insisted) < insistFor
	if wait := p.budget.room(now, beatLook); wait > 0 && p.known && !insists {
		p.insisted = now
		e.say(theme.Warn, fmt.Sprintf("%s; the next look comes in %s, or at once when you press %s again", p.why(), seconds(wait.Round(time.Second)), e.keymap.Get("refresh").First()))
		if p.paused {
			return nil
		}
		return e.alarm("look", wait, m.look)
	}
	m.forced = insists || p.budget.room(now, beatLook, beatOverview) == 0
	defer func() { m.forced = false }()
	return tea.Batch(m.lookNow(), m.refreshAll())
}

func (m *model) pause() tea.Cmd {
	p := &m.env.poller
	p.paused = !p.paused
	if p.paused {
		delete(m.env.alarms, "look")
		m.env.say(theme.Warn, "paused: nothing moves until you press "+m.env.keymap.Get("pause").First()+" again; dialogs still read afresh")
		return nil
	}
	m.env.status = status{}
	return m.refreshNow()
}

// pace makes looks rarer (1) or more frequent (-1).
func (m *model) pace(direction int) tea.Cmd {
	p := &m.env.poller
	steps := []time.Duration{leastRefresh, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, mostRefresh}
	to := p.refresh
	for i, step := range steps {
		if direction < 0 && step < p.refresh {
			to = step
		}
		if direction > 0 && step > p.refresh {
			to = steps[i]
			break
		}
	}
	if to == p.refresh {
		m.env.say(theme.Warn, "every "+text.Duration(to)+" is as far as it goes")
		return nil
	}
	p.refresh = to
	p.wait = p.pace(m.env.now())
	m.env.say(theme.Plain, "refreshed every "+text.Duration(to)+", or less often to stay within "+text.Percent(m.env.poller.budget.total())+" of one core of the server")
	if p.paused || m.env.asking("poll") {
		return nil
	}
	return m.env.alarm("look", p.wait, m.look)
}

// running jobs, as the tabs count them.
func (m *model) countOf(view string) (store.Count, bool) {
	p := m.env.poller
	switch {
	case !p.known:
	case view == "stuck":
		return p.poll.Stuck, true
	case view == "review":
		return m.env.figure("review"), true
	}
	return store.Count{}, false
}
