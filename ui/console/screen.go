package console

import (
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/keys"
	"jobtop/ui/theme"
)

// screen is one place of the console. Its methods run in Update and View only.
type screen interface {
	// place says how to come back here: what a command would say.
	place() place
	// info stands right in the line above the screen: how many, in which order.
	info() string
	// enter is called when the screen comes up, with the argument of its place; as it was
	// left, if left.
	enter(argument string, left bool) tea.Cmd
	// refresh reads again what is shown; nil while the last reading is under way.
	refresh() tea.Cmd
	// bindings are the keys of this screen; what is the same everywhere is the model's.
	bindings() []binding
	// clear takes back one thing that narrows the view (a mark, a filter), and reports
	// whether there was one.
	clear() bool
	// view draws at most height lines of at most width columns.
	view(width, height int) []string
}

// place is a screen with what it shows.
type place struct {
	view     string // overview, stuck, review, jobs, actions, job
	argument string // a filter, or a job's id
}

func (p place) String() string {
	if p.argument == "" {
		return p.view
	}
	return p.view + " " + p.argument
}

// binding is a key at work: what it does now, and why it does nothing where it cannot.
type binding struct {
	keys.Binding
	do func() tea.Cmd
	// why is the reason that it cannot be used now, "" if it can; nil: it always can.
	why func() string
	// rank is its place in the key line, the lowest first; 0: only in the help.
	rank int
}

func (b binding) disabled() string {
	if b.why == nil {
		return ""
	}
	return b.why()
}

// press is the outcome of a key: the command of its binding, or the reason on the status
// line.
func (b binding) press(e *env) tea.Cmd {
	if reason := b.disabled(); reason != "" {
		e.say(theme.Warn, b.First()+" ("+b.Help+"): "+reason)
		return nil
	}
	return b.do()
}

// bind makes a binding of the key map work.
func (e *env) bind(id string, rank int, do func() tea.Cmd, why func() string) binding {
	return binding{Binding: e.keymap.Get(id), do: do, why: why, rank: rank}
}

// does makes a binding's function of one that needs no command.
func does(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		f()
		return nil
	}
}
