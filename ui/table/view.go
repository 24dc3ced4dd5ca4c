package table

import (
	"strings"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// margin holds the cursor and the mark before each row.
const margin = 3

// View draws the column titles and as many rows as fit, at most height lines.
func (t *Table[R]) View(th *theme.Theme, width, height int) []string {
	if width <= 0 || height <= 0 {
		return nil
	}
	t.height = max(height-1, 0)
	t.clamp()
	columns := t.layout(width - margin)
	lines := make([]string, 0, height)
	lines = append(lines, t.titles(th, columns, width))
	for i := t.top; i < len(t.rows) && len(lines) < height; i++ {
		lines = append(lines, t.line(th, columns, i, width))
	}
	return lines
}

func (t *Table[R]) titles(th *theme.Theme, columns []placed[R], width int) string {
	var line theme.Line
	line.Gap(margin)
	for i, c := range columns {
		if i > 0 {
			line.Add(theme.Plain, "  ")
		}
		title := c.Title
		role := theme.Dim
		if c.ID == t.sortBy {
			role = theme.Title
		}
		line.Add(role, fit(th.Charset, title, c.width, c.Right, false))
	}
	return line.Draw(th, width)
}

func (t *Table[R]) line(th *theme.Theme, columns []placed[R], i, width int) string {
	r := t.rows[i]
	_, marked := t.marks[r.key]
	selected := i == t.at
	var line theme.Line
	if selected {
		line.Add(theme.Strong, th.Glyphs.Cursor)
	} else {
		line.Add(theme.Plain, " ")
	}
	switch {
	case marked:
		line.Add(theme.Marked, th.Glyphs.Mark)
	case r.state == gone:
		line.Add(theme.Dim, th.Glyphs.Gone)
	case r.state == arrived:
		line.Add(theme.Info, th.Glyphs.New)
	}
	line.Gap(margin)
	note, noteRole, noted := "", theme.Plain, false
	if t.Note != nil {
		note, noteRole, noted = t.Note(*r.value)
	}
	for n, c := range columns {
		if n > 0 {
			line.Add(theme.Plain, "  ")
		}
		if noted && n > 0 {
			line.Add(noteRole, fit(th.Charset, note, width-line.Width(), false, false))
			break
		}
		s, role := c.Cell(*r.value)
		if r.state == gone {
			role = theme.Dim
		}
		cell := fit(th.Charset, s, c.width, c.Right, c.Middle)
		if n == len(columns)-1 {
			cell = strings.TrimRight(cell, " ") // nothing follows it, and the link may be slow
		}
		line.Add(role, cell)
	}
	if selected {
		return line.DrawAll(th, theme.Selected, width)
	}
	return line.Draw(th, width)
}

// fit makes a cell's text safe and exactly width columns wide.
func fit(charset text.Charset, s string, width int, right, middle bool) string {
	if middle {
		s = charset.TruncateMiddle(charset.Sanitize(s), width)
	} else {
		s = charset.Line(s, width)
	}
	if right {
		return text.PadLeft(s, width)
	}
	return text.PadRight(s, width)
}
