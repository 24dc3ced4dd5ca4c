package table

import (
	"cmp"
	"slices"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// Column says how one fact of a row is shown and sorted.
type Column[R any] struct {
	ID, Title string
	// Min and Max bound the width. In between, the widest cell decides.
	Min, Max int
	// Grow takes whatever width is left, beyond Max.
	Grow  bool
	Right bool
	// Middle cuts in the middle, for ids that differ only at their ends.
	Middle bool
	// Drop is the order in which columns give way where there is no room: the highest
	// first, 0 never; from Luxury on before other columns shrink.
	Drop int
	// Wide columns are shown only in the wide table.
	Wide bool
	// Cell is the text of a row, made safe and cut here, and its role.
	Cell func(R) (string, theme.Role)
	// Compare orders rows by this column; nil where it cannot be sorted by.
	Compare func(a, b *R) int
}

// Luxury is where Drop begins for columns that go before others shrink.
const Luxury = 7

// sample bounds the rows that decide a column's width.
const sample = 200

// measure lets widths grow with a new reading; they never shrink under the eye.
func (t *Table[R]) measure() {
	for _, c := range t.columns {
		if c.Max <= c.Min {
			continue
		}
		widest := t.natural[c.ID]
		for _, value := range t.data[:min(len(t.data), sample)] {
			if widest >= c.Max {
				break
			}
			s, _ := c.Cell(*value)
			widest = max(widest, min(c.Max, text.Width(text.Unicode.Line(s, c.Max))))
		}
		t.natural[c.ID] = widest
	}
}

type placed[R any] struct {
	Column[R]
	width int
}

const gap = 2

// layout chooses the columns and their widths for a width of the table.
func (t *Table[R]) layout(width int) []placed[R] {
	var chosen []placed[R]
	for _, c := range t.shown() {
		w := max(c.Min, text.Width(c.Title))
		w = max(w, min(c.Max, t.natural[c.ID]))
		chosen = append(chosen, placed[R]{c, w})
	}
	// What is a luxury goes before anything else is squeezed for it.
	for total(chosen) > width {
		out := leastImportant(chosen)
		if out < 0 || chosen[out].Drop < Luxury {
			break
		}
		chosen = slices.Delete(chosen, out, out+1)
	}
	for {
		excess := total(chosen) - width
		// What can shrink shrinks, the widest first; then the least important goes.
		for excess > 0 {
			widest := -1
			for i, c := range chosen {
				if c.width > c.Min && (widest < 0 || c.width-c.Min > chosen[widest].width-chosen[widest].Min) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			by := min(excess, max(1, (chosen[widest].width-chosen[widest].Min+1)/2))
			chosen[widest].width -= by
			excess -= by
		}
		if excess <= 0 {
			break
		}
		out := leastImportant(chosen)
		if out < 0 {
			break
		}
		chosen = slices.Delete(chosen, out, out+1)
		for i, c := range chosen {
			chosen[i].width = max(c.Min, text.Width(c.Title), min(c.Max, t.natural[c.ID]))
		}
	}
	if left := width - total(chosen); left > 0 {
		for i, c := range chosen {
			if c.Grow {
				chosen[i].width += left
				break
			}
		}
	}
	return chosen
}

func leastImportant[R any](columns []placed[R]) int {
	out := -1
	for i, c := range columns {
		if c.Drop > 0 && (out < 0 || c.Drop >= columns[out].Drop) {
			out = i
		}
	}
	return out
}

func total[R any](columns []placed[R]) int {
	sum := 0
	for i, c := range columns {
		sum += c.width
		if i > 0 {
			sum += gap
		}
	}
	return sum
}

// Fitting are the IDs of the columns that a table of a width shows.
func (t *Table[R]) Fitting(width int) []string {
	var ids []string
	for _, c := range t.layout(width - margin) {
		ids = append(ids, c.ID)
	}
	return ids
}

// shown are the columns that may be shown: the configured ones, or those of the narrow
// or the wide table.
func (t *Table[R]) shown() []Column[R] {
	if len(t.Order) > 0 && !t.Wide {
		var columns []Column[R]
		for _, id := range t.Order {
			if i := slices.IndexFunc(t.columns, func(c Column[R]) bool { return c.ID == id }); i >= 0 {
				columns = append(columns, t.columns[i])
			}
		}
		return columns
	}
	var columns []Column[R]
	for _, c := range t.columns {
		if t.Wide || !c.Wide {
			columns = append(columns, c)
		}
	}
	return columns
}

// sort orders rows by the chosen column, and leaves them as they were read without one.
func (t *Table[R]) sort(rows []row[R]) {
	i := slices.IndexFunc(t.columns, func(c Column[R]) bool { return c.ID == t.sortBy })
	if i < 0 || t.columns[i].Compare == nil {
		if t.reverse {
			slices.Reverse(rows)
		}
		return
	}
	compare := t.columns[i].Compare
	slices.SortFunc(rows, func(a, b row[R]) int {
		order := compare(a.value, b.value)
		if t.reverse {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.n, b.n))
	})
}

// Sort orders by a column's ID, "" by how the rows were read.
func (t *Table[R]) Sort(by string, reverse bool) {
	t.sortBy, t.reverse = by, reverse
	if slices.ContainsFunc(t.rows, func(r row[R]) bool { return r.state == gone }) {
		t.arrange(false, false) // those that went have their place behind another
		return
	}
	t.resort()
}

// Sorted is the column that orders the rows, "" for none, and whether it is reversed.
func (t *Table[R]) Sorted() (by string, reverse bool) { return t.sortBy, t.reverse }

// Sortable are the IDs of the columns that can order the rows, of those shown.
func (t *Table[R]) Sortable() []string {
	var ids []string
	for _, c := range t.shown() {
		if c.Compare != nil {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Columns are the IDs of all columns.
func (t *Table[R]) Columns() []string {
	ids := make([]string, 0, len(t.columns))
	for _, c := range t.columns {
		ids = append(ids, c.ID)
	}
	return ids
}
