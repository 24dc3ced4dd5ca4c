package cli

import (
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"pgregory.net/rapid"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// hostile draws text of all sorts, that of terminals' and formats' own characters too.
func hostile(t *rapid.T) string {
	pieces := []string{"\x1b[2J", "\x1b]0;x\x07", "\u202e", "\u0085", "\x00", "\x7f", "\u2028", "\U000e0041", "|", "`", "\n", "\r", "\t", `\`, `"`, "'", "=1+1",
		"@", "<b>", "\xff\xfe", "é", "漢字", "👩‍👩‍👧", "$(id)", " ", ",", ";"}
	return strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(t, "text"), "")
}

// JSON means what the record holds, and no terminal obeys any of it.
func TestJSONIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile(t)
		encoded, err := marshal(map[string]string{"s": s})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range string(encoded) {
			if !unicode.IsPrint(r) {
				t.Fatalf("%U in %q", r, encoded)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(encoded, &back); err != nil || back["s"] != strings.ToValidUTF8(s, "\uFFFD") && utf8.ValidString(s) {
			t.Fatalf("%q came back as %q, %v", s, back["s"], err)
		}
	})
}

// A table is as many lines as it has rows, fits where it can, and is safe.
func TestTableIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(20, 200).Draw(t, "width")
		screen := screen{width: width, charset: text.Charset(rapid.IntRange(0, 1).Draw(t, "charset"))}
		table := table{columns: []column{{title: "a", least: 5, middle: true}, {title: "b", right: true, least: 3}, {title: "c", least: 1, soft: true, drop: 1}}}
		rows := rapid.IntRange(0, 5).Draw(t, "rows")
		for range rows {
			table.add(cell{hostile(t), theme.Bad}, plain(hostile(t)), plain(hostile(t)))
		}
		var b strings.Builder
		if err := table.write(&b, screen); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != rows+1 {
			t.Fatalf("%d lines of %d rows: %q", len(lines), rows, b.String())
		}
		for _, line := range lines {
			if text.Width(line) > width {
				t.Fatalf("%d columns of %d: %q", text.Width(line), width, line)
			}
			if safe := screen.charset.Sanitize(line); safe != line {
				t.Fatalf("unsafe: %q", line)
			}
			if strings.HasSuffix(line, " ") {
				t.Fatalf("ends in a blank: %q", line)
			}
		}
	})
}

// No CSV cell of ours is a formula, or holds what a terminal obeys.
func TestCSVIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile(t)
		for i, cell := range csvCells(jobJSON{ID: s, ErrorDetail: &s, Worker: &s, Kind: s}) {
			if cell != "" && strings.ContainsRune("=+@\t\r\n", rune(cell[0])) {
				t.Fatalf("column %d: a formula: %q", i, cell)
			}
			if safe := text.Unicode.SanitizeBlock(cell); safe != cell {
				t.Fatalf("column %d: unsafe: %q", i, cell)
			}
		}
	})
}

// A cell of the handover note stays one cell.
func TestMarkdownIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile(t)
		for _, cell := range []string{markdown(s), code(s)} {
			if strings.ContainsAny(cell, "\n\r") || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(cell, `\\`, ""), `\|`, ""), "|") {
				t.Fatalf("%q breaks out as %q", s, cell)
			}
			if strings.Contains(strings.ReplaceAll(strings.ReplaceAll(markdown(s), `\\`, ""), `\<`, ""), "<") {
				t.Fatalf("%q holds HTML", cell)
			}
		}
	})
}

// What lookup proposes to type means the same to a shell.
func TestQuoted(t *testing.T) {
	for _, s := range []string{"charge-1", "", "-rf", "a b", "it's", `"$(id)" \ ` + "`id`", "*", "~", "a\nb", "é", "a;b&c|d", "#x", "!!"} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+quoted(s)).Output()
		if s == "-rf" {
			out, err = exec.Command("/bin/sh", "-c", "printf '%s' "+quoted(s)).Output()
		}
		if err != nil || string(out) != s {
			t.Errorf("%q became %q, %v", s, out, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", time.Second: "1", 1500 * time.Millisecond: "1.5", 38*time.Second + 214_900*time.Microsecond: "38.215",
		-time.Hour: "-3600", 499 * time.Microsecond: "0", math.MaxInt64: "9223372036.855",
	} {
		if got, err := json.Marshal(seconds(d)); err != nil || string(got) != want {
			t.Errorf("%v: %s, %v", d, got, err)
		}
	}
}

func TestExpandName(t *testing.T) {
	for given, want := range map[string]string{
		"orders": "dbname='orders'", "it's": `dbname='it\'s'`, `a\b c`: `dbname='a\\b c'`,
		"postgres://h/d": "postgres://h/d", "host=h": "host=h", "service=orders": "service=orders",
	} {
		if got := expandName(given); got != want {
			t.Errorf("%s: %s", given, got)
		}
	}
}

func TestLabel(t *testing.T) {
	if got := label("a\\b\"c\nd\xff"); got != `a\\b\"c\nd`+"\uFFFD" {
		t.Errorf("%q", got)
	}
}

// Counts that are not exact say so, to people and to programs.
func TestPrecision(t *testing.T) {
	s := &session{app: &app{}}
	for _, c := range []struct {
		count       store.Count
		words, json string
	}{
		{store.Count{N: 1204, Precision: store.Exact}, "1,204", `{"count":1204,"precision":"exact","count_age_seconds":0}`},
		{store.Count{N: 10000, Precision: store.Capped, Age: time.Second}, "10,000+", `{"count":10000,"precision":"capped","count_age_seconds":1}`},
		{store.Count{N: 9930000, Precision: store.Estimated}, "≈9.93M", `{"count":9930000,"precision":"estimated","count_age_seconds":0}`},
	} {
		encoded, err := marshal(newCountJSON(c.count))
		if got := s.count(c.count); got != c.words || string(encoded) != c.json || err != nil {
			t.Errorf("%s, %s, %v", got, encoded, err)
		}
	}
}

// Every command's help says what it does, with an example.
func TestHelp(t *testing.T) {
	a := &app{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			return
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || len(c.Short) > 70 {
			t.Errorf("%s: short help %q", c.CommandPath(), c.Short)
		}
		if !strings.Contains(c.Example, "jobtop") {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if width := text.Width(strings.TrimRight(line, "\n")); width > 100 {
				t.Errorf("%s: a line of %d columns: %s", c.CommandPath(), width, line)
			}
		}
		if c.HasParent() && c.Parent() == c.Root() && c.GroupID == "" && c.Runnable() {
			t.Errorf("%s is in no group", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(a.newRoot())
}
