package theme

import (
	"slices"
	"strings"

	"jobtop/ui/text"
)

// Line is a line of the screen in the making: pieces of text with their roles, of a
// known width. The zero value is an empty line.
type Line struct {
	pieces []piece
	width  int
}

type piece struct {
	role Role
	text string
}

// Add appends text that is safe for the screen.
func (l *Line) Add(role Role, s string) *Line {
	if s == "" {
		return l
	}
	l.width += text.Width(s)
	if n := len(l.pieces); n > 0 && l.pieces[n-1].role == role {
		l.pieces[n-1].text += s
		return l
	}
	l.pieces = append(l.pieces, piece{role, s})
	return l
}

// Gap appends spaces until the line is at least column wide.
func (l *Line) Gap(column int) *Line {
	if column > l.width {
		l.Add(Plain, strings.Repeat(" ", column-l.width))
	}
	return l
}

// Append appends another line.
func (l *Line) Append(other Line) *Line {
	for _, p := range other.pieces {
		l.Add(p.role, p.text)
	}
	return l
}

// Width returns how many columns the line takes.
func (l *Line) Width() int { return l.width }

// Text returns the line without its looks.
func (l *Line) Text() string {
	var b strings.Builder
	for _, p := range l.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// Draw returns the line cut to width columns.
func (l *Line) Draw(t *Theme, width int) string {
	var b strings.Builder
	for _, p := range l.cut(t, width) {
		b.WriteString(t.In(p.role, p.text))
	}
	return b.String()
}

// DrawAll returns the line cut and filled to width columns in one role, such as the
// selected row: one change of looks for the whole line.
func (l *Line) DrawAll(t *Theme, role Role, width int) string {
	var b strings.Builder
	for _, p := range l.cut(t, width) {
		b.WriteString(p.text)
	}
	return t.In(role, text.PadRight(b.String(), width))
}

func (l *Line) cut(t *Theme, width int) []piece {
	if l.width <= width {
		return l.pieces
	}
	room := width
	var kept []piece
	for _, p := range l.pieces {
		w := text.Width(p.text)
		if w < room {
			kept = append(kept, p)
			room -= w
			continue
		}
		// The rest of the line does not fit, so that its last column is the ellipsis.
		p.text = t.Charset.Truncate(p.text+"  ", room)
		return append(kept, p)
	}
	return kept
}

// Spread puts left and right on one line of a width; where both do not fit, right goes.
func Spread(left, right Line, width int) Line {
	if right.width == 0 || left.width+right.width+1 > width {
		return left
	}
	left.pieces = slices.Clone(left.pieces)
	left.Gap(width - right.width)
	left.Append(right)
	return left
}
