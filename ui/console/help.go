package console

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// showHelp lists the keys of this screen, with the reason where one cannot be used now,
// and then the commands.
func (m *model) showHelp() tea.Cmd {
	e := m.env
	here := m.screen().place().view
	own, global := m.screen().bindings(), m.global()
	e.dialogs.push(e, &pager{e: e, name: "Keys of " + here, make: func(width int) []theme.Line {
		lines := helpLines(e, "this screen", ordered(e, own), width)
		lines = append(lines, theme.Line{})
		lines = append(lines, helpLines(e, "everywhere", ordered(e, global), width)...)
		lines = append(lines, theme.Line{})
		var title theme.Line
		title.Add(theme.Title, "commands, after "+e.keymap.Get("command").First())
		lines = append(lines, title)
		for _, c := range commands {
			lines = append(lines, helpLine(e, c.usage, c.does, "", width))
		}
		return lines
	}})
	return nil
}

// ordered brings bindings into the order of the key map.
func ordered(e *env, bindings []binding) []binding {
	var sorted []binding
	for _, b := range e.keymap.All() {
		for _, own := range bindings {
			if own.ID == b.ID {
				sorted = append(sorted, own)
			}
		}
	}
	return sorted
}

func helpLines(e *env, heading string, bindings []binding, width int) []theme.Line {
	var title theme.Line
	title.Add(theme.Title, heading)
	lines := []theme.Line{title}
	for _, b := range bindings {
		if len(b.Keys) == 0 {
			continue
		}
		lines = append(lines, helpLine(e, b.Label(), b.Long, b.disabled(), width))
	}
	return lines
}

func helpLine(e *env, key, long, disabled string, width int) theme.Line {
	const column = 18
	var l theme.Line
	l.Add(theme.Key, text.PadRight(e.charset().Truncate(key, column), column)+"  ")
	room := max(0, width-l.Width())
	if disabled == "" {
		l.Add(theme.Plain, e.charset().Truncate(long, room))
		return l
	}
	reason := e.charset().Line("not now: "+disabled, room)
	short := e.charset().Truncate(strings.SplitN(long, ":", 2)[0], max(0, room-text.Width(reason)-2))
	l.Add(theme.Dim, text.PadRight(short, max(0, room-text.Width(reason)))).Add(theme.Warn, reason)
	return l
}
