package console

import (
	"fmt"
	"strings"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// The smallest terminal that the screens are made for.
const (
	leastWidth  = 60
	leastHeight = 15
	// chromeLines are header, tabs, breadcrumb, status and keys.
	chromeLines = 5
)

// View draws everything. Each line stays the same from look to look unless what it says
// has changed: a changed line is sent whole.
func (m *model) View() string {
	e := m.env
	if e.width <= 0 || e.height <= 0 {
		return ""
	}
	if e.tooSmall() {
		return m.sizeNeeded()
	}
	lines := make([]string, 0, e.height)
	lines = append(lines, m.header(), m.tabs(), m.crumbs())
	status := m.statusLines()
	room := e.height - chromeLines + 1 - len(status)
	if banner, role := e.banner(); banner != "" {
		for _, part := range text.Wrap(banner, e.width-2) {
			lines = append(lines, e.line(role, " "+part))
			room--
		}
	}
	body := m.screen().view(e.width, room)
	for len(body) < room {
		body = append(body, "")
	}
	lines = append(lines, body[:room]...)
	lines = append(lines, status...)
	lines = append(lines, "")
	lines = e.dialogs.over(e, lines)
	lines[len(lines)-1] = m.keyLine() // which knows by now whether a dialog scrolls
	return strings.Join(lines, "\n")
}

// line draws one text in one role, cut to the width of the terminal.
func (e *env) line(role theme.Role, s string) string {
	var l theme.Line
	l.Add(role, s)
	return l.Draw(e.theme, e.width)
}

// tooSmall: the screen cannot be drawn, and so takes no keys but the one that leaves.
func (e *env) tooSmall() bool { return e.width < leastWidth || e.height < leastHeight }

// sizeNeeded says what is needed, in as little room as there is.
func (m *model) sizeNeeded() string {
	e := m.env
	lines := text.Wrap(fmt.Sprintf("jobtop needs %dx%d, this is %dx%d; until then no key but ctrl-c does anything", leastWidth, leastHeight, e.width, e.height), e.width)
	if len(lines) > e.height {
		lines = lines[:e.height]
	}
	return strings.Join(lines, "\n")
}

// header says which database this is, what we may do there as whom, and how old what we
// see is.
func (m *model) header() string {
	e := m.env
	var left, right theme.Line
	left.Add(theme.Strong, " jobtop")
	if e.Profile != "" {
		left.Add(theme.Plain, "  ").Add(theme.Profile, " "+e.charset().Line(e.Profile, 24)+" ")
	}
	gap := "   "
	if e.width < 80 {
		gap = "  "
	}
	if s := e.server; s.known {
		left.Add(theme.Plain, gap+e.charset().Line(s.Database, 24)+" @ "+e.charset().Line(s.Host, 24))
		if s.Replica {
			left.Add(theme.Warn, gap+"replica")
		} else {
			left.Add(theme.Plain, gap+"primary")
		}
	}
	switch {
	case !e.server.known:
		left.Add(theme.Dim, gap+"connecting")
	case e.readOnly() == "":
		left.Add(theme.Plain, gap+"RW")
		if e.journal != "" {
			left.Add(theme.Warn, gap+"no journal")
		}
	default:
		left.Add(theme.Warn, gap+"RO")
	}
	left.Add(theme.Dim, gap+e.charset().Line(e.Operator, 16))
	shown, role := e.freshness()
	right.Add(role, shown+" ")
	if left.Width()+right.Width()+1 > e.width { // what is stale must show
		var short theme.Line
		short.Append(left)
		l := short.Draw(e.theme, e.width-right.Width()-1)
		return l + " " + right.Draw(e.theme, e.width)
	}
	line := theme.Spread(left, right, e.width)
	return line.Draw(e.theme, e.width)
}

var tabNames = []string{"overview", "stuck", "review", "jobs", "actions"}

// tabs are the main screens with what waits in them.
func (m *model) tabs() string {
	e := m.env
	var line theme.Line
	gap := "   "
	if e.width < 80 {
		gap = " "
	}
	current := m.trail[min(1, len(m.trail)-1)].place().view
	for i, name := range tabNames {
		if i > 0 {
			line.Add(theme.Plain, gap)
		}
		role := theme.Plain
		if name == current {
			role = theme.Title
			line.Add(theme.Title, "[")
		} else {
			line.Add(theme.Plain, " ")
		}
		line.Add(theme.Dim, e.keymap.Get(name).First()+" ").Add(role, name)
		if c, ok := m.countOf(name); ok && c.N > 0 {
			line.Add(theme.Warn, " "+e.count(c))
		}
		if m.news.of(name) {
			line.Add(theme.Bad, "!")
		}
		if name == current {
			line.Add(theme.Title, "]")
		}
	}
	return line.Draw(e.theme, e.width)
}

// crumbs is the rule under the tabs: where one is, and how much of it there is.
func (m *model) crumbs() string {
	e := m.env
	h := e.glyphs().Horizontal
	var left, right theme.Line
	left.Add(theme.Dim, h+" ")
	for i, s := range m.trail[min(1, len(m.trail)-1):] {
		if i > 0 {
			left.Add(theme.Dim, " "+e.glyphs().Crumb+" ")
		}
		p := s.place()
		name := p.view
		if p.view == "job" {
			name = e.charset().TruncateMiddle(e.safe(p.argument), 40)
		}
		left.Add(theme.Strong, name)
	}
	left.Add(theme.Plain, " ")
	if info := m.screen().info(); info != "" {
		right.Add(theme.Plain, " "+info+" ").Add(theme.Dim, h)
	}
	fill := e.width - left.Width() - right.Width()
	if fill < 1 {
		return left.Draw(e.theme, e.width)
	}
	left.Add(theme.Dim, strings.Repeat(h, fill)).Append(right)
	return left.Draw(e.theme, e.width)
}

// statusMost is how many lines the status may take: what came of an act is told whole.
const statusMost = 3

// statusLines are what came of the last thing done, or the line being typed.
func (m *model) statusLines() []string {
	e := m.env
	if m.prompt != nil && e.dialogs.top() == nil {
		return m.prompt.view(e, e.width)
	}
	if e.status.text == "" {
		return []string{""}
	}
	var lines []string
	for _, part := range text.Wrap(e.status.text, e.width-2) {
		lines = append(lines, e.line(e.status.role, " "+part))
	}
	if len(lines) > statusMost {
		lines = lines[:statusMost]
	}
	return lines
}

// keyLine shows the keys that matter here and can be used.
func (m *model) keyLine() string {
	e := m.env
	if d := e.dialogs.top(); d != nil {
		return e.hints(d.hints())
	}
	if m.prompt != nil {
		return e.hints(m.prompt.hints())
	}
	return e.hints(keyHints(m.bindings()))
}

// hint is a key and what it does.
type hint struct{ key, does string }

// hints draws as many hints as fit.
func (e *env) hints(hints []hint) string {
	var line theme.Line
	line.Add(theme.Plain, " ")
	for i, h := range hints {
		width := text.Width(h.key) + 1 + text.Width(h.does)
		if i > 0 {
			width += 3
		}
		if line.Width()+width > e.width {
			continue
		}
		if i > 0 {
			line.Add(theme.Plain, "   ")
		}
		line.Add(theme.Key, h.key).Add(theme.Dim, " "+h.does)
	}
	return line.Draw(e.theme, e.width)
}

// keyHints picks the bindings for the key line, by rank.
func keyHints(bindings []binding) []hint {
	var hints []hint
	for rank := 1; rank < 100; rank++ {
		for _, b := range bindings {
			if b.rank == rank && len(b.Keys) > 0 && b.disabled() == "" {
				hints = append(hints, hint{b.First(), b.Help})
			}
		}
	}
	return hints
}
