package cli

import (
	"io"
	"slices"
	"strings"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// column is one column of a printed table.
type column struct {
	title string
	right bool
	// least is how narrow it may become where the table does not fit; 0: it stays.
	least int
	// soft ones become narrower before any other does.
	soft bool
	// middle cuts in the middle, for ids that differ only at their ends.
	middle bool
	// drop is the order in which columns are left out where shrinking is not enough: the
	// highest first, 0 never.
	drop int
}

// cell is untrusted text and its role.
type cell struct {
	text string
	role theme.Role
}

func plain(s string) cell { return cell{text: s} }

// table is printed as aligned columns that fit the screen.
type table struct {
	columns []column
	rows    [][]cell
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

const columnGap = 2

// longestID is the widest that an id is printed where the output is no terminal: one long
// id does not widen all lines.
const longestID = 60

// write prints the table, without a title line where there are no titles.
func (t *table) write(w io.Writer, s screen) error {
	widths := t.widths(s)
	var b strings.Builder
	titles := make([]cell, len(t.columns))
	named := false
	for i, c := range t.columns {
		titles[i] = cell{c.title, theme.Dim}
		named = named || c.title != ""
	}
	if named {
		t.writeRow(&b, titles, widths, s)
	}
	for _, row := range t.rows {
		t.writeRow(&b, row, widths, s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) writeRow(b *strings.Builder, row []cell, widths []int, s screen) {
	blanks := 0 // not yet written, so that no line ends in them
	first := true
	for i, c := range t.columns {
		if widths[i] == dropped {
			continue
		}
		if !first {
			blanks += columnGap
		}
		first = false
		shown := s.charset.Sanitize(row[i].text)
		if c.middle {
			shown = s.charset.TruncateMiddle(shown, widths[i])
		} else {
			shown = s.charset.Truncate(shown, widths[i])
		}
		shown = strings.TrimRight(shown, " ")
		fill := widths[i] - text.Width(shown)
		if c.right {
			blanks += fill
		}
		if shown != "" {
			b.WriteString(strings.Repeat(" ", blanks))
			b.WriteString(s.in(row[i].role, shown))
			blanks = 0
		}
		if !c.right {
			blanks += fill
		}
	}
	b.WriteByte('\n')
}

// dropped is the width of a column that is left out.
const dropped = -1

// widths gives each column what its widest cell takes. Where the table does not fit, the
// soft columns become narrower, then the others that can; where that is not enough, one
// is left out and the rest is tried again.
func (t *table) widths(s screen) []int {
	natural := make([]int, len(t.columns))
	for i, c := range t.columns {
		natural[i] = text.Width(c.title)
		for _, row := range t.rows {
			natural[i] = max(natural[i], text.Width(s.charset.Sanitize(row[i].text)))
		}
		if c.middle && s.width == 0 {
			natural[i] = min(natural[i], longestID)
		}
	}
	for {
		widths := slices.Clone(natural)
		excess := total(widths) - s.width
		if s.width == 0 {
			return widths
		}
		excess = t.shrink(widths, excess, true)
		if t.shrink(widths, excess, false) <= 0 {
			return widths
		}
		out := -1
		for i, c := range t.columns {
			if natural[i] != dropped && c.drop > 0 && (out < 0 || c.drop > t.columns[out].drop) {
				out = i
			}
		}
		if out < 0 {
			return widths
		}
		natural[out] = dropped
	}
}

// shrink takes what is too much from the columns that can spare most, and returns what
// is left of it.
func (t *table) shrink(widths []int, excess int, soft bool) int {
	for excess > 0 {
		widest, spare := -1, 0
		for i, c := range t.columns {
			if c.least > 0 && c.soft == soft && widths[i]-c.least > spare {
				widest, spare = i, widths[i]-c.least
			}
		}
		if widest < 0 {
			break
		}
		by := min(excess, (spare+1)/2)
		widths[widest] -= by
		excess -= by
	}
	return excess
}

func total(widths []int) int {
	sum := -columnGap
	for _, w := range widths {
		if w != dropped {
			sum += w + columnGap
		}
	}
	return sum
}
