package console

import (
	"slices"

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
		lines = append(lines, m.elsewhere(own, width)...)
		lines = append(lines, theme.Line{})
		var title theme.Line
		title.Add(theme.Title, "commands, after "+e.keymap.Get("command").First())
		lines = append(lines, title)
		for _, c := range commands {
			lines = append(lines, helpLine(e, c.usage, c.does, "", width)...)
		}
		return lines
	}})
	return nil
}

// elsewhere are the keys of the other screens, as far as this one does not have them.
func (m *model) elsewhere(own []binding, width int) []theme.Line {
	e := m.env
	var lines []theme.Line
	for _, name := range append(slices.Clone(tabNames), "job") {
		s, ok := m.screens[name]
		if !ok {
			s = newJobScreen(m, "")
		}
		further := slices.DeleteFunc(s.bindings(), func(b binding) bool {
			return slices.ContainsFunc(own, func(o binding) bool { return o.ID == b.ID })
		})
		if len(further) == 0 || name == m.screen().place().view {
			continue
		}
		for i := range further {
			further[i].why = nil // that is for when one is there
		}
		lines = append(lines, theme.Line{})
		lines = append(lines, helpLines(e, "also on "+name, ordered(e, further), width)...)
	}
	return lines
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
		lines = append(lines, helpLine(e, b.Label(), b.Long, b.disabled(), width)...)
	}
	return lines
}

// helpLine is a key and what it does, and why it does not now, in as many lines as that
// takes.
func helpLine(e *env, key, long, disabled string, width int) []theme.Line {
	const column = 18
	room := max(1, width-column-2)
	parts := text.Wrap(long, room)
	lines := make([]theme.Line, len(parts))
	role := theme.Plain
	if disabled != "" {
		role = theme.Dim
	}
	for i, part := range parts {
		if i == 0 {
			lines[i].Add(theme.Key, e.charset().Truncate(key, column))
		}
		lines[i].Gap(column+2).Add(role, part)
	}
	if disabled == "" {
		return lines
	}
	last := &lines[len(lines)-1]
	reason := "not now: " + e.safe(disabled)
	if last.Width()+2+text.Width(reason) <= width {
		last.Add(theme.Plain, "  ").Add(theme.Warn, reason)
		return lines
	}
	for _, part := range text.Wrap(reason, room) {
		var l theme.Line
		l.Gap(column+2).Add(theme.Warn, part)
		lines = append(lines, l)
	}
	return lines
}
