// Package table shows rows that come and go under an operator's hands: the selection and
// the marks hold on to a row's key, never to its number.
package table

import (
	"iter"
	"slices"
	"strings"

	"jobtop/ui/theme"
)

// Table is a list of rows with a selection, marks and an order. Its methods are for one
// goroutine; nothing here waits for anything.
type Table[R any] struct {
	columns []Column[R]
	key     func(R) string

	data    []*R // as last read
	keep    func(R) bool
	rows    []row[R] // as shown: kept, sorted, with those that just went
	natural map[string]int

	selected string
	at       int // index of selected in rows
	top      int
	height   int // of the last View, in rows
	marks    map[string]*R

	sortBy  string
	reverse bool
	Wide    bool
	// Note, if set, may say something about a row that takes the place of all its columns
	// but the first.
	Note func(R) (string, theme.Role, bool)
	// Order, if set, are the IDs of the columns to show, in their order.
	Order []string
}

type row[R any] struct {
	value *R
	key   string
	n     int // its place in the reading
	state presence
}

type presence uint8

const (
	present presence = iota
	arrived          // since the reading before
	gone             // not in the last reading; shown once more, or while it is selected
)

// linger bounds the rows that are shown once more after they went: when more go at once,
// they just go.
const linger = 10

// New makes a table of columns over rows that key tells apart.
func New[R any](key func(R) string, columns ...Column[R]) *Table[R] {
	return &Table[R]{columns: columns, key: key, marks: map[string]*R{}, natural: map[string]int{}}
}

// Reset empties the table for the answer to another question: what was selected and
// marked is forgotten.
func (t *Table[R]) Reset() {
	t.data, t.rows, t.selected, t.at, t.top = nil, nil, "", 0, 0
	clear(t.marks)
	clear(t.natural)
}

// Set shows a new reading of the same question. Marks of rows that changed follow the
// new reading; a marked row that went stays marked until it is unmarked.
func (t *Table[R]) Set(data []R) {
	refs := make([]*R, len(data))
	for i := range data {
		refs[i] = &data[i]
	}
	t.SetRefs(refs)
}

// SetRefs is Set for rows that are kept elsewhere and do not change there.
func (t *Table[R]) SetRefs(data []*R) {
	first := t.data == nil
	t.data = data
	if t.data == nil {
		t.data = []*R{}
	}
	t.measure()
	if !t.renew() {
		t.arrange(!first, true)
	}
}

// renew takes over a reading that has the same rows in the same order as the one before,
// as most have. False: it has not, and nothing was done.
func (t *Table[R]) renew() bool {
	if t.keep != nil || len(t.rows) == 0 || len(t.rows) != len(t.data) {
		return false
	}
	for _, r := range t.rows {
		if r.state == gone || r.key != t.key(*t.data[r.n]) {
			return false
		}
	}
	for i := range t.rows {
		r := &t.rows[i]
		r.value, r.state = t.data[r.n], present
		if len(t.marks) > 0 {
			if _, marked := t.marks[r.key]; marked {
				t.marks[r.key] = r.value
			}
		}
	}
	t.resort()
	return true
}

// resort orders the rows anew, of which none went.
func (t *Table[R]) resort() {
	line := t.at - t.top
	natural := make([]row[R], len(t.data))
	n := 0
	for _, r := range t.rows {
		natural[r.n] = r
	}
	for _, r := range natural {
		if r.value != nil { // was kept
			natural[n] = r
			n++
		}
	}
	t.rows = natural[:n]
	t.sort(t.rows)
	t.follow(line)
}

// Keep shows only the rows for which keep holds; nil shows all.
func (t *Table[R]) Keep(keep func(R) bool) {
	t.keep = keep
	t.arrange(false, false)
}

// arrange makes rows anew out of data. With a past, rows that are new are told from
// those that were there, and those that went linger.
func (t *Table[R]) arrange(past, reading bool) {
	old := t.rows
	was := make(map[string]presence, len(old))
	for _, r := range old {
		was[r.key] = r.state
	}
	rows := make([]row[R], 0, len(t.data))
	seen := make(map[string]bool, len(t.data))
	for n, value := range t.data {
		key := t.key(*value)
		if seen[key] {
			continue // two pages overlap
		}
		if _, marked := t.marks[key]; marked {
			t.marks[key] = value
		}
		if t.keep != nil && !t.keep(*value) {
			continue
		}
		seen[key] = true
		state := present
		if before, known := was[key]; past && (!known || before == gone) {
			state = arrived
		} else if known && !reading {
			state = before
		}
		rows = append(rows, row[R]{value, key, n, state})
	}
	t.sort(rows)
	rows = t.withGone(rows, old, seen, past)
	line := t.at - t.top
	t.rows = rows
	t.follow(line)
}

// withGone puts rows that are not in the last reading any more behind the row that they
// followed: the selected one, and after a reading the others once, if they are few.
func (t *Table[R]) withGone(rows, old []row[R], seen map[string]bool, past bool) []row[R] {
	went := 0
	for _, r := range old {
		if !seen[r.key] && r.state != gone {
			went++
		}
	}
	after := map[string][]row[R]{}
	previous := ""
	for _, r := range old {
		if seen[r.key] {
			previous = r.key
			continue
		}
		stays := r.state == gone // sorting and filtering neither add nor drop any
		if past {
			stays = r.key == t.selected || r.state != gone && went <= linger
		}
		if stays && (t.keep == nil || t.keep(*r.value)) {
			if r.state != gone { // it must not keep all of its reading
				kept := *r.value
				r.value = &kept
			}
			r.state = gone
			after[previous] = append(after[previous], r)
		}
	}
	if len(after) == 0 {
		return rows
	}
	merged := make([]row[R], 0, len(rows)+len(after))
	merged = append(merged, after[""]...)
	for _, r := range rows {
		merged = append(merged, r)
		merged = append(merged, after[r.key]...)
	}
	return merged
}

// follow finds the selected row again and keeps it on its line of the screen. A list that
// shows its beginning goes on showing it, so that what is new at the top is seen.
func (t *Table[R]) follow(line int) {
	if len(t.rows) == 0 {
		t.at, t.top = 0, 0
		return
	}
	if t.selected == "" {
		t.selectAt(0)
		return
	}
	for i, r := range t.rows {
		if r.key == t.selected {
			t.at = i
			if t.top > 0 {
				t.top = i - line
			}
			t.clamp()
			return
		}
	}
	t.selectAt(min(t.at, len(t.rows)-1))
}

func (t *Table[R]) selectAt(i int) {
	if len(t.rows) == 0 {
		return
	}
	i = max(0, min(i, len(t.rows)-1))
	left := t.selected
	t.selected, t.at = t.rows[i].key, i
	// A row that went stays only for as long as it is selected.
	if left != t.selected {
		for n, r := range t.rows {
			if r.key == left && r.state == gone {
				t.rows = slices.Delete(t.rows, n, n+1)
				if n < t.at {
					t.at--
				}
				break
			}
		}
	}
	t.clamp()
}

func (t *Table[R]) clamp() {
	height := max(t.height, 1)
	t.top = min(t.top, t.at)
	t.top = max(t.top, t.at-height+1)
	t.top = max(0, min(t.top, len(t.rows)-height))
}

// Move moves the selection by rows, down if positive.
func (t *Table[R]) Move(by int) { t.selectAt(t.at + by) }

// Top and Bottom select the first and the last row.
func (t *Table[R]) Top()    { t.selectAt(0) }
func (t *Table[R]) Bottom() { t.selectAt(len(t.rows) - 1) }

// Page is how many rows the last View had room for.
func (t *Table[R]) Page() int { return max(t.height, 1) }

// Select selects a row by its key and reports whether it is there.
func (t *Table[R]) Select(key string) bool {
	i := slices.IndexFunc(t.rows, func(r row[R]) bool { return r.key == key })
	if i >= 0 {
		t.selectAt(i)
	}
	return i >= 0
}

// Selected returns the selected row. It may be one that Gone.
func (t *Table[R]) Selected() (R, bool) {
	if len(t.rows) == 0 {
		var none R
		return none, false
	}
	return *t.rows[t.at].value, true
}

// Gone reports whether the selected row was not in the last reading any more.
func (t *Table[R]) Gone() bool { return len(t.rows) > 0 && t.rows[t.at].state == gone }

// Next selects the nearest row in a direction (1 or -1) for which match holds, going
// round at the end, and reports whether there is one.
func (t *Table[R]) Next(direction int, match func(R) bool) bool {
	n := len(t.rows)
	for step := 1; step <= n; step++ {
		i := ((t.at+direction*step)%n + n) % n
		if match(*t.rows[i].value) {
			t.selectAt(i)
			return true
		}
	}
	return false
}

// Len is how many rows are shown, Total how many were read.
func (t *Table[R]) Len() int   { return len(t.rows) }
func (t *Table[R]) Total() int { return len(t.data) }

// Position is the number of the selected row, from 1; 0 when there is none.
func (t *Table[R]) Position() int {
	if len(t.rows) == 0 {
		return 0
	}
	return t.at + 1
}

// Shown are the rows as they are shown, without those that went.
func (t *Table[R]) Shown() iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for _, r := range t.rows {
			if r.state != gone && !yield(r.value) {
				return
			}
		}
	}
}

// Window is the first and the last row that the last View drew.
func (t *Table[R]) Window() (first, last int) {
	return t.top, min(t.top+max(t.height, 1), len(t.rows)) - 1
}

// Visible are the keys of the rows that the last View drew.
func (t *Table[R]) Visible() []string {
	first, last := t.Window()
	var keys []string
	for i := first; i <= last; i++ {
		keys = append(keys, t.rows[i].key)
	}
	return keys
}

// ToggleMark marks the selected row or takes its mark away.
func (t *Table[R]) ToggleMark() {
	if len(t.rows) == 0 {
		return
	}
	r := t.rows[t.at]
	if _, marked := t.marks[r.key]; marked {
		delete(t.marks, r.key)
	} else if r.state != gone {
		t.marks[r.key] = r.value
	}
}

// MarkAll marks every row that is shown; where all are marked already it unmarks them.
func (t *Table[R]) MarkAll() {
	all := true
	for _, r := range t.rows {
		if _, marked := t.marks[r.key]; !marked && r.state != gone {
			all = false
			t.marks[r.key] = r.value
		}
	}
	if all {
		t.Unmark()
	}
}

// Unmark takes all marks away.
func (t *Table[R]) Unmark() { clear(t.marks) }

// UnmarkThese takes the marks of some rows away, by their keys.
func (t *Table[R]) UnmarkThese(keys []string) {
	for _, key := range keys {
		delete(t.marks, key)
	}
}

// Marks is how many rows are marked, shown or not.
func (t *Table[R]) Marks() int { return len(t.marks) }

// Marked are the marked rows, those that are shown first and in their order.
func (t *Table[R]) Marked() []*R {
	marked := make([]*R, 0, len(t.marks))
	done := make(map[string]bool, len(t.marks))
	for _, r := range t.rows {
		if value, ok := t.marks[r.key]; ok {
			marked = append(marked, value)
			done[r.key] = true
		}
	}
	var rest []string
	for key := range t.marks {
		if !done[key] {
			rest = append(rest, key)
		}
	}
	slices.SortFunc(rest, strings.Compare)
	for _, key := range rest {
		marked = append(marked, t.marks[key])
	}
	return marked
}
