package console

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/theme"
)

// ledger is what this console was told to do, and what became of it.
type ledger struct {
	log     []*entry // oldest first
	of      map[string]*entry
	sending int
	settles bool // a lost answer is being looked for
}

// entry is one act.
type entry struct {
	order  actions.Order
	result *actions.Result // nil while it is on its way
	lost   bool            // its answer was lost, and is being looked for
	at     time.Time       // this machine's clock
	number int
}

// progress is something that happened in a command of several steps. then runs in Update.
type progress struct{ then func() tea.Cmd }

func (l *ledger) add(o actions.Order, at time.Time) *entry {
	e := &entry{order: o, at: at, number: len(l.log) + 1}
	l.log = append(l.log, e)
	l.of[o.JobID] = e
	return e
}

// send carries out an order. It runs under the program's context alone: giving up on an
// answer would only make it unknown.
func (m *model) send(o actions.Order) tea.Cmd {
	e := m.env
	act := e.ledger.add(o, e.now())
	e.ledger.sending++
	e.say(theme.Info, string(o.Verb)+" "+o.JobID+": sending")
	runner, ctx := e.Runner, e.ctx
	lost, ended := make(chan struct{}), make(chan struct{})
	run := func() tea.Msg {
		defer close(ended)
		result := runner.RunTelling(ctx, o, func() { close(lost) })
		return progress{func() tea.Cmd {
			m.arrived()
			return m.acted(act, result)
		}}
	}
	wait := func() tea.Msg {
		select {
		case <-lost:
			return progress{func() tea.Cmd { return m.searching(act) }}
		case <-ended:
			return nil
		}
	}
	return tea.Batch(run, wait)
}

// searching says that the answer of an act was lost.
func (m *model) searching(act *entry) tea.Cmd {
	if act.result == nil {
		act.lost = true
		m.env.say(theme.Warn, fmt.Sprintf("%s %s: the answer was lost, so it may have happened; finding out", act.order.Verb, act.order.JobID))
	}
	return nil
}

// arrived: one less is under way.
func (m *model) arrived() {
	m.env.ledger.sending--
	m.leaving = m.leaving && m.env.ledger.sending > 0
}

// acted notes what became of an act, shows it, and reads again what it changed.
func (m *model) acted(act *entry, r actions.Result) tea.Cmd {
	e := m.env
	act.order, act.result = r.Order, &r
	line := e.keyed(actions.Explain(r))
	if r.Outcome == actions.Applied {
		line += ". " + e.keyed(capital(actions.UndoHint(r.Order.Verb)))
	}
	if r.JournalErr != nil {
		line += " (no journal: were jobtop killed now, it could not tell)"
	}
	e.say(outcomeRole(r.Outcome), line)
	cmds := []tea.Cmd{m.refreshAll()}
	if r.Outcome == actions.Errored {
		cmds = append(cmds, m.askServer())
	}
	return tea.Batch(cmds...)
}

// settleUnknown goes on looking for answers that were lost.
func (m *model) settleUnknown() tea.Cmd {
	l := &m.env.ledger
	if l.settles || m.env.Runner == nil {
		return nil
	}
	for _, act := range l.log {
		if act.result == nil || act.result.Outcome != actions.Unknown {
			continue
		}
		l.settles = true
		runner, ctx, lost := m.env.Runner, m.env.ctx, *act.result
		return func() tea.Msg {
			result := runner.Settle(ctx, lost)
			return progress{func() tea.Cmd {
				l.settles = false
				if result.Outcome == actions.Unknown {
					act.result = &result
					return nil
				}
				return m.acted(act, result)
			}}
		}
	}
	return nil
}

// recover settles what a console that was killed left behind, and sees whether this one
// can leave anything.
func (m *model) recover() tea.Cmd {
	e := m.env
	if e.Runner == nil || e.ReadOnly != "" {
		return nil
	}
	if e.Runner.Journal == nil {
		e.journal = "there is no state directory"
		return nil
	}
	runner, ctx := e.Runner, e.ctx
	return func() tea.Msg {
		ready := runner.Journal.Ready()
		results, err := runner.Recover(ctx)
		return progress{func() tea.Cmd { return m.recovered(ready, results, err) }}
	}
}

func (m *model) recovered(ready error, results []actions.Result, err error) tea.Cmd {
	e := m.env
	if ready != nil {
		e.journal = e.words(ready)
		e.say(theme.Warn, "no journal: "+e.words(ready)+"; acts work all the same, but were jobtop killed in the middle of one, it could not tell what became of it")
	}
	for _, r := range results {
		e.ledger.add(r.Order, e.now()).result = &r
	}
	switch {
	case errors.Is(err, store.ErrUnreachable):
		// The first look that succeeds tries again.
		m.unrecovered = true
	case err != nil:
		e.say(theme.Warn, "acts of an earlier console could not be looked for: "+err.Error())
	}
	switch len(results) {
	case 0:
	case 1:
		e.say(outcomeRole(results[0].Outcome), "left by an earlier console: "+e.keyed(actions.Explain(results[0])))
	default:
		e.say(theme.Warn, fmt.Sprintf("%d acts were left by an earlier console; %s shows what became of them",
			len(results), e.keymap.Get("results").First()))
	}
	return nil
}

// note is what became of the last act on a job, to be shown in its row as long as the job
// is as the act left or found it.
func (l *ledger) note(job store.Job) (string, theme.Role, bool) {
	act := l.of[job.ID]
	if act == nil {
		return "", theme.Plain, false
	}
	switch {
	case act.result == nil && act.lost:
		return "unknown: the answer was lost; finding out", theme.Warn, true
	case act.result == nil:
		return string(act.order.Verb) + ": sending", theme.Info, true
	}
	r := act.result
	known := act.order.SeenVersion
	if r.Answer.Version != nil {
		known = *r.Answer.Version
	}
	if r.Answer.ToVersion != nil {
		known = *r.Answer.ToVersion
	}
	if job.Version > known {
		return "", theme.Plain, false
	}
	word, line := outcomeWord(r.Outcome)+": ", strings.TrimPrefix(actions.Explain(*r), job.ID+" ")
	return word + strings.TrimPrefix(line, word), outcomeRole(r.Outcome), true
}

func outcomeWord(o actions.Outcome) string {
	switch o {
	case actions.NotHappened:
		return "did not happen"
	case actions.NotSent:
		return "not sent"
	default:
		return string(o)
	}
}

func outcomeRole(o actions.Outcome) theme.Role {
	switch o {
	case actions.Applied:
		return theme.Good
	case actions.Unknown, actions.NotSent, actions.NotHappened:
		return theme.Warn
	default:
		return theme.Bad
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// leave ends the program, unless acts are on their way and it is the first time of asking.
func (m *model) leave() tea.Cmd {
	l := &m.env.ledger
	if l.sending > 0 && !m.leaving {
		m.leaving = true
		m.env.say(theme.Warn, fmt.Sprintf("%d under way: wait for its answer, or leave again and the next start settles it", l.sending))
		return nil
	}
	return tea.Quit
}
