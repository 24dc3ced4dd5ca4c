package console

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// dialog is a box on top of the screen that takes all keys.
type dialog interface {
	// key handles a key and reports whether the dialog is done with.
	key(msg tea.KeyMsg) (closes bool, cmd tea.Cmd)
	// refresh reads again what the dialog rests on; nil while that is under way.
	refresh() tea.Cmd
	title() string
	hints() []hint
	// lines are the inside of the box, for a width and at most height lines.
	lines(width, height int) []theme.Line
	// wants is how wide the inside would like to be.
	wants() int
}

// A stack of dialogs, the last one on top.
type stack struct {
	open  []dialog
	quiet quiet
}

func (s *stack) top() dialog {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// push opens a dialog. Keys that are in flight are not meant for it.
func (s *stack) push(e *env, d dialog) {
	s.open = append(s.open, d)
	s.quiet.begin(e.now())
}

// close takes a dialog off, wherever it is.
func (s *stack) close(d dialog) {
	for i := range s.open {
		if s.open[i] == d {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			return
		}
	}
}

func (s *stack) key(e *env, msg tea.KeyMsg) tea.Cmd {
	if s.quiet.swallows(e.now()) && msg.Type != tea.KeyEsc { // which harms nobody
		return nil
	}
	d := s.top()
	closes, cmd := d.key(msg)
	if closes {
		s.close(d)
	}
	return cmd
}

// quiet swallows keys until none has come for a while, so that neither a key pressed for
// the screen nor one that repeats reaches a dialog that just came up.
type quiet struct {
	on           bool
	opened, last time.Time
}

const (
	quietFor  = 425 * time.Millisecond
	quietMost = 1500 * time.Millisecond
)

func (q *quiet) begin(now time.Time) { *q = quiet{true, now, now} }

func (q *quiet) swallows(now time.Time) bool {
	if !q.on {
		return false
	}
	if now.Sub(q.last) >= quietFor || now.Sub(q.opened) >= quietMost {
		q.on = false
		return false
	}
	q.last = now
	return true
}

// over draws the dialogs on top of the screen's lines.
func (s *stack) over(e *env, screen []string) []string {
	for _, d := range s.open {
		screen = overlay(e, d, screen)
	}
	return screen
}

// overlay draws a dialog in the middle of the screen, below the header and above the key
// line.
func overlay(e *env, d dialog, screen []string) []string {
	width := min(e.width-4, max(d.wants(), 40)+4)
	room := len(screen) - 2 // the header and the keys stay
	inside := d.lines(width-4, room-2)
	if len(inside) > room-2 {
		inside = inside[:room-2]
	}
	box := boxed(e, d.title(), inside, width)
	top := 1 + max(0, (room-len(box))/2)
	left := (e.width - width) / 2
	out := append([]string(nil), screen...)
	for i, line := range box {
		under := out[top+i]
		before := ansi.Truncate(under, left, "")
		before += strings.Repeat(" ", max(0, left-ansi.StringWidth(before)))
		after := ansi.TruncateLeft(under, left+width, "")
		out[top+i] = before + "\x1b[m" + line + after
	}
	return out
}

// boxed draws a frame with a title around lines.
func boxed(e *env, title string, inside []theme.Line, width int) []string {
	g := e.glyphs()
	title = e.charset().Truncate(title, width-6)
	var top theme.Line
	top.Add(theme.Dim, g.TopLeft+" ").Add(theme.Title, title).Add(theme.Plain, " ")
	top.Add(theme.Dim, strings.Repeat(g.Horizontal, max(0, width-1-top.Width()))+g.TopRight)
	box := []string{top.Draw(e.theme, width)}
	for _, line := range inside {
		body := line.Draw(e.theme, width-4)
		fill := strings.Repeat(" ", max(0, width-4-min(line.Width(), width-4)))
		box = append(box, e.theme.In(theme.Dim, g.Vertical)+" "+body+fill+" "+e.theme.In(theme.Dim, g.Vertical))
	}
	return append(box, e.theme.In(theme.Dim, g.BottomLeft+strings.Repeat(g.Horizontal, max(0, width-2))+g.BottomRight))
}

// paragraph wraps a safe text into lines of one role.
func paragraph(role theme.Role, s string, width int) []theme.Line {
	var lines []theme.Line
	for _, part := range text.Wrap(s, width) {
		var l theme.Line
		l.Add(role, part)
		lines = append(lines, l)
	}
	return lines
}
