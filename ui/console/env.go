package console

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/keys"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// env is what every screen and dialog shares: the terminal's size, how things look, what
// is known of the database, and the way to ask it more.
type env struct {
	Options
	ctx    context.Context
	theme  *theme.Theme
	keymap *keys.Map

	width, height int

	now   func() time.Time
	after func(time.Duration, tea.Msg) tea.Cmd

	requests requests
	alarms   map[string]int

	server server
	// journal is why acts cannot be journaled, "" if they are: were jobtop killed in the
	// middle of one, it could not tell at its next start.
	journal string
	poller  poller
	counts  counts
	ledger  ledger
	status  status
	dialogs stack
}

// charset is the characters that may be used.
func (e *env) charset() text.Charset { return e.theme.Charset }

// safe makes a text from outside one safe line.
func (e *env) safe(s string) string { return e.theme.Charset.Sanitize(s) }

// glyphs are the characters to draw with.
func (e *env) glyphs() theme.Glyphs { return e.theme.Glyphs }

// words puts an error into one safe line.
func (e *env) words(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "stopped"
	}
	return e.safe(strings.TrimSpace(err.Error()))
}

// server is whom we talk to, once that is known.
type server struct {
	store.Server
	known bool
	edges string // why its edges keep us from acting, "" if they do not
}

// status is the line above the keys: what came of the last thing done.
type status struct {
	role theme.Role
	text string
}

func (e *env) say(role theme.Role, s string) { e.status = status{role, e.safe(s)} }

// age writes an age so that it seldom changes: in tens of seconds below a minute.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "<0s"
	case d < 10*time.Second:
		return "<10s"
	case d < time.Minute:
		return text.Age(d.Truncate(10 * time.Second))
	}
	return text.Age(d)
}

func ageOf(d *time.Duration) string {
	if d == nil {
		return "-"
	}
	return age(*d)
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
