package console

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// field is a line that is being typed. The editing is a library's; the drawing is ours,
// since what is pasted may hold anything.
type field struct{ input textinput.Model }

// fieldLimit bounds what a field takes, far above every limit that is checked in words.
const fieldLimit = 4096

func newField(value string) field {
	input := textinput.New()
	input.CharLimit = fieldLimit
	// Reading the clipboard is the terminal's business: it pastes.
	input.KeyMap.Paste = key.NewBinding(key.WithDisabled())
	input.SetValue(value)
	input.CursorEnd()
	input.Focus()
	return field{input}
}

func (f *field) value() string { return f.input.Value() }

func (f *field) set(value string) {
	f.input.SetValue(value)
	f.input.CursorEnd()
}

// key edits and reports whether the value changed.
func (f *field) key(msg tea.KeyMsg) bool {
	before := f.value()
	f.input, _ = f.input.Update(msg)
	return f.value() != before
}

// line draws the field in width columns, with the cursor where it is focused.
func (f *field) line(e *env, width int, focused bool) theme.Line {
	runes, at := []rune(f.value()), f.input.Position()
	before := e.safe(string(runes[:at]))
	under, after := " ", ""
	if at < len(runes) {
		under, after = e.safe(string(runes[at])), e.safe(string(runes[at+1:]))
	}
	var l theme.Line
	if !focused {
		l.Add(theme.Plain, e.charset().Truncate(before+strings.TrimRight(under, " ")+after, width))
		return l
	}
	// The cursor stays in view: what is left of it gives way.
	room := width - max(text.Width(under), 1)
	if w := text.Width(before); w > room {
		before = e.charset().Ellipsis() + last(before, room-1)
	}
	l.Add(theme.Plain, before).Add(theme.Selected, under)
	l.Add(theme.Plain, e.charset().Truncate(after, max(0, width-l.Width())))
	return l
}

// last is the end of s that fits into width columns.
func last(s string, width int) string {
	runes := []rune(s)
	start, used := len(runes), 0
	for start > 0 {
		w := text.Width(string(runes[start-1]))
		if used+w > width {
			break
		}
		used += w
		start--
	}
	return string(runes[start:])
}

// typed reports whether a key is text: a letter, a space, something pasted.
func typed(msg tea.KeyMsg) bool {
	return (msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace) && !msg.Alt
}
