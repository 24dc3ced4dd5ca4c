// Package machine draws the states of a job and the ways between them, with how many
// jobs are in each and how many take each way.
package machine

import (
	"strings"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// Figures are what stands in the drawing, as safe text. An empty rate is left out.
type Figures struct {
	Pending, Running, Done, Review, Failed, Dead string
	Due, OldestDue                               string

	Claimed, Completed, Unknown, Failing, Dying, Requeued string // rates

	// Selected is the state under the cursor, "" for none.
	Selected string
	// Alarm gives the states that something is the matter with another role.
	Alarm map[string]theme.Role
}

// The size of Draw's drawing.
const (
	Width  = 58
	Height = 8
)

// How many columns Draw has for a figure of pending and running; of done, whose node grows
// with it; and of the others.
const (
	NodeWidth   = 9
	DoneWidth   = 13
	BranchWidth = 7
	// CompactWidth is what Compact has for any of them.
	CompactWidth = 7
)

// Draw draws the machine in Height lines of at most Width columns.
func Draw(f Figures, g theme.Glyphs) []theme.Line {
	c := newCanvas(Width, Height)
	node := func(x int, name, count string) {
		inside := max(NodeWidth, text.Width(count))
		c.put(x+1, 0, theme.Title, center(name, inside))
		c.put(x, 1, theme.Dim, g.TopLeft+strings.Repeat(g.Horizontal, inside)+g.TopRight)
		c.put(x, 2, theme.Dim, g.Vertical)
		c.put(x+inside+1, 2, theme.Dim, g.Vertical)
		c.put(x, 3, theme.Dim, g.BottomLeft+strings.Repeat(g.Horizontal, inside)+g.BottomRight)
		figure := text.PadRight(text.PadLeft(count, inside-1), inside)
		switch selected := f.Selected == name; {
		case selected && strings.HasPrefix(figure, " "):
			c.put(x+1, 2, theme.Selected, g.Cursor+figure[1:])
		case selected: // no room inside
			c.put(x, 2, theme.Selected, g.Cursor+figure)
		default:
			c.put(x+1, 2, f.role(name), figure)
		}
	}
	node(1, "pending", f.Pending)
	node(22, "running", f.Running)
	node(43, "done", f.Done)

	arrow := func(from, to int, rate string) {
		c.put(from, 2, theme.Dim, g.TeeRight+strings.Repeat(g.Horizontal, to-from-2)+g.Right)
		c.put(from+1, 1, theme.Plain, text.PadLeft(rate, to-from-2))
	}
	arrow(11, 22, f.Claimed)
	arrow(32, 43, f.Completed)

	// What leaves running without being done.
	branch := func(x, y int, rate, state, count string) {
		for line := 4; line < y; line++ {
			c.put(x, line, theme.Dim, g.Vertical)
		}
		c.put(x, 3, theme.Dim, g.TeeDown)
		c.put(x, y, theme.Dim, g.BottomLeft+strings.Repeat(g.Horizontal, 41-x)+g.Right)
		if rate != "" {
			c.put(32, y, theme.Plain, text.PadLeft(" "+rate+" ", 9))
		}
		role, label := f.role(state), theme.Plain
		if f.Selected == state {
			role, label = theme.Selected, theme.Selected
			c.put(43, y, theme.Selected, g.Cursor)
		}
		c.put(44, y, label, text.PadRight(state, 6))
		c.put(50, y, role, text.PadLeft(count, 8))
	}
	branch(30, 4, f.Unknown, "review", f.Review)
	branch(27, 5, f.Failing, "failed", f.Failed)
	branch(24, 6, f.Dying, "dead", f.Dead)

	// The way back that operators take.
	c.put(6, 3, theme.Dim, g.Up)
	for line := 4; line < 7; line++ {
		c.put(6, line, theme.Dim, g.Vertical)
	}
	back := g.BottomLeft + strings.Repeat(g.Horizontal, 39) + g.BottomRight
	c.put(6, 7, theme.Dim, back)
	requeued := " requeued "
	if f.Requeued != "" {
		requeued += f.Requeued + " "
	}
	c.put(13, 7, theme.Plain, requeued+g.Left)
	c.put(8, 4, theme.Plain, "due "+f.Due)
	if f.OldestDue != "" {
		c.put(8, 5, theme.Dim, "oldest "+f.OldestDue)
	}
	return c.lines()
}

// Compact says the same in two lines, for small screens.
func Compact(f Figures, g theme.Glyphs) []theme.Line {
	var first, second theme.Line
	state := func(l *theme.Line, name, count string) {
		role := f.role(name)
		if f.Selected == name {
			l.Add(theme.Selected, g.Cursor+name+" "+count)
			return
		}
		l.Add(theme.Plain, " "+name+" ").Add(role, count)
	}
	way := func(l *theme.Line, rate string) {
		l.Add(theme.Dim, " "+g.Horizontal+g.Horizontal)
		if rate != "" {
			l.Add(theme.Plain, " "+rate+" ")
		}
		l.Add(theme.Dim, g.Horizontal+g.Right)
	}
	state(&first, "pending", f.Pending)
	way(&first, f.Claimed)
	state(&first, "running", f.Running)
	way(&first, f.Completed)
	state(&first, "done", f.Done)
	state(&second, "review", f.Review)
	second.Add(theme.Plain, "  ")
	state(&second, "failed", f.Failed)
	second.Add(theme.Plain, "  ")
	state(&second, "dead", f.Dead)
	second.Add(theme.Plain, "   due "+f.Due)
	if f.OldestDue != "" {
		second.Add(theme.Dim, ", oldest "+f.OldestDue)
	}
	return []theme.Line{first, second}
}

func (f Figures) role(state string) theme.Role {
	if role, ok := f.Alarm[state]; ok {
		return role
	}
	return theme.Strong
}

func center(s string, width int) string {
	left := (width - text.Width(s)) / 2
	return strings.Repeat(" ", max(0, left)) + s
}
