package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

type item struct {
	id string
	n  int
}

func newTable() *Table[item] {
	return New(func(i item) string { return i.id },
		Column[item]{ID: "id", Title: "id", Min: 4, Max: 12, Middle: true,
			Cell:    func(i item) (string, theme.Role) { return i.id, theme.Plain },
			Compare: func(a, b *item) int { return cmp.Compare(a.id, b.id) }},
		Column[item]{ID: "n", Title: "n", Min: 4, Right: true, Drop: 1,
			Cell:    func(i item) (string, theme.Role) { return fmt.Sprint(i.n), theme.Good },
			Compare: func(a, b *item) int { return cmp.Compare(a.n, b.n) }},
		Column[item]{ID: "note", Title: "note", Min: 4, Grow: true, Drop: 2,
			Cell: func(i item) (string, theme.Role) { return "note of " + i.id, theme.Dim }},
	)
}

func plain(t *testing.T) *theme.Theme {
	t.Helper()
	th, err := theme.New("none", text.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

func items(ids ...string) []item {
	var all []item
	for n, id := range ids {
		all = append(all, item{id, n})
	}
	return all
}

func selected(t *testing.T, table *Table[item]) string {
	t.Helper()
	i, ok := table.Selected()
	if !ok {
		return ""
	}
	return i.id
}

// lines draws the table without any looks, the reversed row aside.
func lines(t *testing.T, table *Table[item], width, height int) []string {
	t.Helper()
	var out []string
	for _, line := range table.View(plain(t), width, height) {
		line = strings.NewReplacer("\x1b[7m", "", "\x1b[1m", "", "\x1b[m", "").Replace(line)
		out = append(out, strings.TrimRight(line, " "))
	}
	return out
}

func TestSelectionFollowsTheRow(t *testing.T) {
	table := newTable()
	table.View(plain(t), 40, 4)
	table.Set(items("a", "b", "c", "d", "e", "f"))
	table.Move(4)
	before := lines(t, table, 40, 4)
	table.Set(items("c", "d", "e", "f")) // two rows above it went
	if got := selected(t, table); got != "e" {
		t.Fatalf("selected %q after rows above went, want e", got)
	}
	after := lines(t, table, 40, 4)
	find := func(lines []string) int {
		return slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, ">") })
	}
	if find(before) != find(after) {
		t.Errorf("the selected row moved on the screen:\n%s\n\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
	table.Set(items("x", "y", "c", "d", "e", "f"))
	if got := selected(t, table); got != "e" {
		t.Errorf("selected %q after rows came above, want e", got)
	}
}

// A log that is read from its beginning shows what comes there; the selection moves down
// with its row, and one further down keeps its line.
func TestWhatIsNewAtTheTopShows(t *testing.T) {
	table := newTable()
	table.View(plain(t), 40, 4)
	table.Set(items("c", "d", "e", "f", "g"))
	table.Set(items("a", "b", "c", "d", "e", "f", "g"))
	shown := strings.Join(lines(t, table, 40, 4), "\n")
	if !strings.Contains(shown, "a") || !strings.Contains(shown, ">+ c") && !strings.Contains(shown, ">  c") {
		t.Errorf("the new rows do not show above the selected one:\n%s", shown)
	}
	if got := selected(t, table); got != "c" {
		t.Errorf("selected %q, want c", got)
	}
}

func TestASelectedRowThatWentStaysUntilLeft(t *testing.T) {
	table := newTable()
	table.View(plain(t), 40, 10)
	table.Set(items("a", "b", "c"))
	table.Move(1)
	table.Set(items("a", "c"))
	for range 3 {
		if got := selected(t, table); got != "b" || !table.Gone() {
			t.Fatalf("selected %q, gone %v; want b, gone", got, table.Gone())
		}
		table.Set(items("a", "c"))
	}
	if got := len(slices.Collect(table.Shown())); got != 2 {
		t.Errorf("%d rows are shown as there, want 2", got)
	}
	table.ToggleMark()
	if table.Marks() != 0 {
		t.Error("a row that is gone could be marked")
	}
	table.Move(1)
	if got := selected(t, table); got != "c" || table.Len() != 2 {
		t.Errorf("after moving on: selected %q of %d, want c of 2", got, table.Len())
	}
}

func TestNewAndGoneRowsShowOnce(t *testing.T) {
	table := newTable()
	table.Set(items("a", "b", "c"))
	table.Set(items("a", "c", "d"))
	got := strings.Join(lines(t, table, 30, 9), "\n")
	want := strings.Join([]string{
		"   id       n  note",
		">  a        0  note of a",
		" - b        1  note of b",
		"   c        1  note of c",
		" + d        2  note of d",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	table.Set(items("a", "c", "d"))
	if got := strings.Join(lines(t, table, 30, 9), "\n"); strings.ContainsAny(got, "+-") {
		t.Errorf("still marked as new or gone:\n%s", got)
	}
}

func TestColumnsGiveWay(t *testing.T) {
	table := newTable()
	table.Set(items("job-with-a-long-id-7"))
	for width, want := range map[int]string{
		40: ">  job-wi…-id-7     0  note of job-with…",
		24: ">  job-…id-7     0  not…",
		17: ">  job-…d-7     0",
		12: ">  job-…id-7",
		6:  ">  jo…",
		2:  ">…",
	} {
		drawn := table.View(plain(t), width, 5)[1]
		if got := text.Width(drawn); got != width {
			t.Errorf("width %d: the row takes %d columns: %q", width, got, drawn)
		}
		if got := lines(t, table, width, 5)[1]; got != want {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
}

func TestSortAndReverse(t *testing.T) {
	table := newTable()
	table.Set([]item{{"b", 1}, {"a", 3}, {"c", 2}})
	ids := func() string {
		var b strings.Builder
		for i := range table.Shown() {
			b.WriteString(i.id)
		}
		return b.String()
	}
	for _, step := range []struct {
		by      string
		reverse bool
		want    string
	}{{"", false, "bac"}, {"", true, "cab"}, {"id", false, "abc"}, {"n", false, "bca"}, {"n", true, "acb"}} {
		table.Sort(step.by, step.reverse)
		if got := ids(); got != step.want {
			t.Errorf("sorted by %q, reversed %v: %s, want %s", step.by, step.reverse, got, step.want)
		}
		if got := selected(t, table); got != "b" {
			t.Errorf("sorting moved the selection to %q", got)
		}
	}
}

func TestMarksFollowTheReading(t *testing.T) {
	table := newTable()
	table.Set(items("a", "b", "c"))
	table.Move(1)
	table.ToggleMark()
	table.Set([]item{{"c", 0}, {"b", 9}})
	if marked := table.Marked(); len(marked) != 1 || *marked[0] != (item{"b", 9}) {
		t.Errorf("marked %v, want b as last read", marked)
	}
	table.Keep(func(i item) bool { return i.id == "c" })
	table.MarkAll()
	if got := table.Marks(); got != 2 {
		t.Errorf("%d marks, want b (hidden) and c", got)
	}
	table.MarkAll()
	if got := table.Marks(); got != 0 {
		t.Errorf("%d marks after unmarking, want none", got)
	}
}

// Whatever comes and goes, the selected key stays the same as long as nobody moves, no
// row is shown twice, and every row fits its line.
func TestSelectionHolds(t *testing.T) {
	th := plain(t)
	rapid.Check(t, func(t *rapid.T) {
		table := newTable()
		chosen := ""
		t.Repeat(map[string]func(*rapid.T){
			"read": func(t *rapid.T) {
				ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 0, 25, rapid.ID[int]).Draw(t, "ids")
				var data []item
				for _, n := range ids {
					data = append(data, item{fmt.Sprint("job-", n), n})
				}
				table.Set(data)
			},
			"move": func(t *rapid.T) {
				table.Move(rapid.IntRange(-5, 5).Draw(t, "by"))
				if i, ok := table.Selected(); ok {
					chosen = i.id
				}
			},
			"sort": func(t *rapid.T) {
				table.Sort(rapid.SampledFrom([]string{"", "id", "n"}).Draw(t, "by"), rapid.Bool().Draw(t, "reverse"))
			},
			"": func(t *rapid.T) {
				width, height := rapid.IntRange(1, 60).Draw(t, "width"), rapid.IntRange(1, 12).Draw(t, "height")
				drawn := table.View(th, width, height)
				if len(drawn) > height {
					t.Fatalf("%d lines in a height of %d", len(drawn), height)
				}
				for _, line := range drawn {
					if text.Width(line) > width {
						t.Fatalf("%q is wider than %d", line, width)
					}
				}
				i, ok := table.Selected()
				if chosen == "" && ok {
					chosen = i.id
				}
				if ok && i.id != chosen {
					t.Fatalf("the selection went from %s to %s by itself", chosen, i.id)
				}
				seen := map[string]bool{}
				for _, r := range table.rows {
					if seen[r.key] {
						t.Fatalf("%s is shown twice", r.key)
					}
					seen[r.key] = true
				}
				if first, last := table.Window(); ok && height > 1 && (table.at < first || table.at > last) {
					t.Fatalf("the selected row %d is outside of the window %d to %d", table.at, first, last)
				}
			},
		})
	})
}

// A reading with the same rows brings their new values, also where they are sorted, marked
// or kept out, and nothing else changes.
func TestSameRowsRead(t *testing.T) {
	for _, by := range []string{"", "n"} {
		table := newTable()
		table.Set([]item{{"a", 1}, {"b", 2}, {"c", 3}})
		table.Sort(by, false)
		table.Move(1)
		table.ToggleMark()
		table.Set([]item{{"a", 9}, {"b", 8}, {"c", 7}})
		want := map[string]string{"": "a9b8c7", "n": "c7b8a9"}[by]
		got := ""
		for i := range table.Shown() {
			got += fmt.Sprint(i.id, i.n)
		}
		if got != want || selected(t, table) != "b" || table.Marked()[0].n != 8 {
			t.Errorf("by %q: %s, selected %s, marked %v", by, got, selected(t, table), table.Marked()[0])
		}
		for _, r := range table.rows {
			if r.state != present {
				t.Errorf("by %q: %s looks as if it came or went", by, r.key)
			}
		}
		table.Set([]item{{"a", 9}, {"c", 7}, {"d", 1}}) // as many, and yet others
		if table.Len() != 4 || table.rows[len(table.rows)-1].key == "" {
			t.Errorf("by %q: %d rows, want those and the one that went", by, table.Len())
		}
	}
}
