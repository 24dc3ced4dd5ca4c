package console

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// requests number the questions that the console asks. Each has a name; of answers under
// one name only that to the latest question counts.
type requests struct {
	last int
	open map[string]int
}

// answer is what a question brought. then runs in Update, and only there.
type answer struct {
	name string
	id   int
	then func() tea.Cmd
}

// patience bounds every question, so that a hung connection is noticed whatever the
// store's own deadlines do.
const patience = 20 * time.Second

// ask puts a question to the outside world. do must not touch the console's state; then
// gets its answer in Update, unless the question was asked again or forgotten meanwhile.
func ask[T any](e *env, name string, do func(context.Context) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	e.requests.last++
	id := e.requests.last
	e.requests.open[name] = id
	ctx := e.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		value, err := do(ctx)
		return answer{name, id, func() tea.Cmd { return then(value, err) }}
	}
}

// asking reports whether the answer to a question is still to come.
func (e *env) asking(name string) bool { return e.requests.open[name] != 0 }

// forget makes a later answer to a question count for nothing.
func (e *env) forget(name string) { delete(e.requests.open, name) }

// accept runs what is to be done with an answer, unless it comes too late.
func (e *env) accept(a answer) tea.Cmd {
	e.poller.budget.charge(e.now(), e.DB.ServerTime())
	if e.requests.open[a.name] != a.id {
		return nil
	}
	delete(e.requests.open, a.name)
	return a.then()
}

// alarm is a message to the console itself after some time; a new one under the same name
// replaces it.
type alarm struct {
	name string
	id   int
	then func() tea.Cmd
}

func (e *env) alarm(name string, after time.Duration, then func() tea.Cmd) tea.Cmd {
	e.requests.last++
	id := e.requests.last
	e.alarms[name] = id
	return e.after(after, alarm{name, id, then})
}

func (e *env) ring(a alarm) tea.Cmd {
	if e.alarms[a.name] != a.id {
		return nil
	}
	delete(e.alarms, a.name)
	return a.then()
}
