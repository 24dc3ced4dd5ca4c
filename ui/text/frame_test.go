package text

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

const (
	columns = 80
	rows    = 24
)

// A screen is a terminal filled with dots, on which nothing else may ever change.
type screen struct {
	*vt.Emulator
	events []string
}

func newScreen() *screen {
	s := &screen{Emulator: vt.NewEmulator(columns, rows)}
	event := func(format string, args ...any) { s.events = append(s.events, fmt.Sprintf(format, args...)) }
	for y := range rows {
		s.dots(y)
	}
	s.SetCallbacks(vt.Callbacks{
		Bell:             func() { event("bell") },
		Title:            func(t string) { event("title %q", t) },
		IconName:         func(t string) { event("icon name %q", t) },
		AltScreen:        func(on bool) { event("alternate screen %v", on) },
		CursorVisibility: func(on bool) { event("cursor visible %v", on) },
		CursorStyle:      func(vt.CursorStyle, bool) { event("cursor style") },
		WorkingDirectory: func(d string) { event("directory %q", d) },
		EnableMode:       func(m ansi.Mode) { event("mode %v on", m) },
		DisableMode:      func(m ansi.Mode) { event("mode %v off", m) },
	})
	return s
}

// write prints to the terminal. The reset at its end makes the emulator print the last
// character, which it holds back until it knows what follows.
func (s *screen) write(text string) {
	_, _ = s.WriteString(text + "\x1b[m")
}

func (s *screen) dots(y int) {
	line := make([]byte, columns)
	for x := range line {
		line[x] = '.'
	}
	s.write(fmt.Sprintf("\x1b[%d;1H%s", y+1, line))
}

// check writes lines below each other from a place on, in a field of width columns, and
// looks at every cell of the screen.
func (s *screen) check(t fataler, x, y, width int, lines ...string) {
	t.Helper()
	s.events = s.events[:0]
	for i, line := range lines {
		row := (y + i) % rows
		s.write(fmt.Sprintf("\x1b[%d;%dH", row+1, x+1))
		s.write(line)
		wide := Width(line)
		if wide > width {
			t.Fatalf("%+q is %d columns in a field of %d", line, wide, width)
		}
		// In the last column the cursor waits on the cell it has just written.
		if at := s.CursorPosition(); at.X != min(x+wide, columns-1) || at.Y != row {
			t.Fatalf("%+q at %d,%d left the cursor at %v", line, x, row, at)
		}
	}
	if len(s.events) > 0 {
		t.Fatalf("%+q caused %v", lines, s.events)
	}
	for row := range rows {
		end, shown := x, 0
		if i := (row - y + rows) % rows; i < len(lines) {
			end = x + Width(lines[i])
		}
		for col := range columns {
			cell := s.CellAt(col, row)
			if col >= x && col < end {
				shown += cell.Width
				continue
			}
			if cell.Content != "." || cell.Width != 1 || !cell.Style.IsZero() || !cell.Link.IsZero() {
				t.Fatalf("%+q at %d,%d changed the cell at %d,%d to %+v", lines, x, y, col, row, cell)
			}
		}
		if shown != end-x {
			t.Fatalf("%+q: %d columns of row %d are covered, want %d", lines, shown, row, end-x)
		}
		if end > x {
			s.dots(row)
		}
	}
}

// A screen that notices nothing would prove nothing.
func TestFrameNotices(t *testing.T) {
	for name, line := range map[string]string{
		"cursor movement": "a\x1b[5;5Hb",
		"newline":         "a\nb",
		"title":           "\x1b]0;owned\a",
		"mode":            "\x1b[?25l",
		"bell":            "\a",
		"neighbour":       "\u0301",
		"too wide":        "12345678901",
		"tab":             "\t",
	} {
		var noticed complaint
		func() {
			defer func() { _ = recover() }()
			newScreen().check(&noticed, 10, 5, 10, line)
		}()
		if noticed == "" {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// A complaint is what the code under test was blamed for.
type complaint string

func (c *complaint) Helper() {}
func (c *complaint) Fatalf(format string, args ...any) {
	*c = complaint(fmt.Sprintf(format, args...))
	panic(*c)
}

// FuzzFrame prints sanitised text in the middle of a screen, as a list does with a
// value from the database, and checks that nothing else on the screen changes.
func FuzzFrame(f *testing.F) {
	for _, in := range []string{
		"charge-10442", "\x1b[2J\x1b]0;t\a", "\u202eevil", "東京都", "e\u0301\u0302\u0303\u0304", "👩\u200d💻🇩🇪", "क\u094dषि", "\u1100\u1161\u11a8",
		"\xff\x9b1m\xc2", "a\tb\nc\rd", "\u0d4e", "0\ufe0f\u20e3", "\u3000\u00a0",
	} {
		f.Add(in, uint8(10), uint8(5), uint8(10), false)
	}
	s := newScreen()
	f.Fuzz(func(t *testing.T, in string, x, y, width uint8, ascii bool) {
		c := Unicode
		if ascii {
			c = ASCII
		}
		s.field(t, c, in, int(x)%columns, int(y)%rows, int(width))
	})
}

// field prints in, as the packages above do, at a place in a field of at most width
// columns.
func (s *screen) field(t fataler, c Charset, in string, x, y, width int) {
	t.Helper()
	width %= columns - x + 1
	checkSafe(t, c, in)
	lines := []string{c.Line(in, width), c.TruncateMiddle(c.Sanitize(in), width)}
	wrapped := Wrap(c.SanitizeBlock(in), width)
	s.check(t, x, y, width, append(lines, wrapped[:min(len(wrapped), 5)]...)...)
}

// TestFrame is FuzzFrame with text that is made to hurt.
func TestFrame(t *testing.T) {
	s := newScreen()
	rapid.Check(t, func(t *rapid.T) {
		s.field(t,
			rapid.SampledFrom([]Charset{Unicode, ASCII}).Draw(t, "charset"),
			hostile().Draw(t, "in"),
			rapid.IntRange(0, columns-1).Draw(t, "x"),
			rapid.IntRange(0, rows-1).Draw(t, "y"),
			rapid.IntRange(0, columns).Draw(t, "width"),
		)
	})
}

// FuzzSanitize checks what the sanitiser promises about its result.
func FuzzSanitize(f *testing.F) {
	for _, in := range []string{"plain", "\x1b[31m", "e\u0301\u0301\u0301\u0301", "\xff", "\u202e", "क\u094dष", "\U0001f469\u200d\U0001f4bb", "a\r\n\tb"} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		checkSafe(t, Unicode, in)
		checkSafe(t, ASCII, in)
		block := Unicode.SanitizeBlock(in)
		if again := Unicode.SanitizeBlock(block); again != block {
			t.Fatalf("block not stable: %+q, then %+q", block, again)
		}
		for line := range strings.SplitSeq(block, "\n") {
			checkSafe(t, Unicode, line)
			if Unicode.Sanitize(line) != line {
				t.Fatalf("unsafe line %+q", line)
			}
		}
	})
}
