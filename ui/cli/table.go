package cli

import (
	"io"
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
	// middle cuts in the middle, for ids that differ only at their ends.
	middle bool
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
	for i, c := range t.columns {
		if i > 0 {
			blanks += columnGap
		}
		shown := s.charset.Sanitize(row[i].text)
		if c.middle {
			shown = s.charset.TruncateMiddle(shown, widths[i])
		} else {
			shown = s.charset.Truncate(shown, widths[i])
		}
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

// widths gives each column what its widest cell takes, and where the table does not
// fit takes it from those that can spare most.
func (t *table) widths(s screen) []int {
	widths := make([]int, len(t.columns))
	total := -columnGap
	for i, c := range t.columns {
		widths[i] = text.Width(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], text.Width(s.charset.Sanitize(row[i].text)))
		}
		total += widths[i] + columnGap
	}
	for s.width > 0 && total > s.width {
		widest := -1
		for i, c := range t.columns {
			if c.least > 0 && widths[i] > c.least && (widest < 0 || widths[i]-c.least > widths[widest]-t.columns[widest].least) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		spare := widths[widest] - t.columns[widest].least
		by := min(total-s.width, (spare+1)/2)
		widths[widest] -= by
		total -= by
	}
	return widths
}
