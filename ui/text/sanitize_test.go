package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestSanitize(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "charge-10442", "charge-10442"},
		{"letters", "Zürich Ελλάς Москва שלום العربية", "Zürich Ελλάς Москва שלום العربية"},
		{"wide", "東京 한국 😀", "東京 한국 😀"},
		{"symbols", "≈9.93M … • ▶ ‖", "≈9.93M … • ▶ ‖"},
		{"lines and tabs", "a\nb\r\n\tc", `a\nb\r\n\tc`},
		{"csi", "\x1b[2J\x1b[31mred", `\x1b[2J\x1b[31mred`},
		{"osc 52", "\x1b]52;c;ZXZpbA==\a", `\x1b]52;c;ZXZpbA==\x07`},
		{"c1 as rune", "\u009b31m\u0085\u009d", `\u009b31m\u0085\u009d`},
		{"c1 as byte", "\x9b31m", `\x9b31m`},
		{"nul, backspace, del", "\x00\b\x7f", `\x00\x08\x7f`},
		{"bidi", "a\u202eb\u2066c\u2069\u200e\u200f\u061c", `a\u202eb\u2066c\u2069\u200e\u200f\u061c`},
		{"zero width", "pass\u200bword\u200c\u200d\u2060\ufeff", `pass\u200bword\u200c\u200d\u2060\ufeff`},
		{"separators", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"odd spaces", "a\u00a0b\u3000c\u2007", `a\u00a0b\u3000c\u2007`},
		{"soft hyphen", "co\u00adop", `co\u00adop`},
		{"tag", "x\U000e0041", `x\U000e0041`},
		{"newer than many terminals", "\U0001fae8\U00031350", `\U0001fae8\U00031350`},
		{"private use", "\ue0b0\U000f0000", `\ue0b0\U000f0000`},
		{"invalid", "a\xff\xc3(\xed\xa0\x80", `a\xff\xc3(\xed\xa0\x80`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"fillers", "\u3164\u115f\uffa0\u2800", `\u3164\u115f\uffa0\u2800`},
		{"variation selector", "❤\ufe0f", `❤\ufe0f`},
		{"emoji sequence", "👩\u200d💻 👍🏽 🇩🇪", `👩\u200d💻 👍\U0001f3fd \U0001f1e9\U0001f1ea`},
		{"accents composed of marks", "e\u0301 ô\u0323", "e\u0301 ô\u0323"},
		{"mark flood", "Z" + strings.Repeat("\u0300", 5), "Z\u0300\u0300\u0300" + `\u0300\u0300`},
		{"mark first", "\u0301a", `\u0301a`},
		{"mark on a space", "a \u0301", `a \u0301`},
		{"mark on an escape", "\x1b\u0301", `\x1b\u0301`},
		{"spacing mark", "क\u093e", `क\u093e`},
		{"conjunct", "क\u094dष", `क\u094dष`},
		{"backslash stays", `C:\temp \x1b`, `C:\temp \x1b`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Unicode.Sanitize(tc.in); got != tc.want {
				t.Errorf("Sanitize(%+q) = %+q, want %+q", tc.in, got, tc.want)
			}
		})
	}
	if got, want := ASCII.Sanitize("Zürich 😀\n"), `Z\u00fcrich \U0001f600\n`; got != want {
		t.Errorf("ASCII.Sanitize = %q, want %q", got, want)
	}
}

func TestSanitizeBlock(t *testing.T) {
	for in, want := range map[string]string{
		"a\nb\r\nc\rd":      "a\nb\nc\\rd",
		"\tx\n1\ty\n123\tz": "    x\n1   y\n123 z",
		"12345\tx":          "12345   x",
		"東\tx":              "東  x",
		"\x1b\tx":           `\x1b    x`,
		"a\vb\fc\u0085d":    `a\x0bb\x0cc\u0085d`,
		"a\n\u0301":         "a\n" + `\u0301`,
		"\n\n":              "\n\n",
	} {
		if got := Unicode.SanitizeBlock(in); got != want {
			t.Errorf("SanitizeBlock(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  string
	}{
		{"provider timeout", 20, "provider timeout"},
		{"provider timeout", 9, "provider…"},
		{"a\x1bb", 3, `a\…`},
		{"abc", 0, ""},
		{"abc", -1, ""},
	} {
		if got := Unicode.Line(tc.in, tc.width); got != tc.want {
			t.Errorf("Line(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.want)
		}
	}
}

// hostile draws text in which the troublesome characters are frequent.
func hostile() *rapid.Generator[string] {
	trouble := []rune("\x00\a\b\t\n\r\x1b\x7f\u0085\u009b\u00a0\u00ad\u0301\u0300\u034f\u061c\u0600\u0e33\u0e31\u093f\u094d" +
		"\u0d4e\u1100\u1161\u11a8\u200b\u200d\u200e\u2028\u202e\u20dd\u2066\u2630\u3000\u302a\u3099\u3164\ufe0f\ufeff\uff9e\ufffd" +
		"\U000e0041\U0001f1e9\U0001f3fd\U0001f469\U0001f600中가ｶ[]0;1m?25lhHABCD\\ …")
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.SampledFrom(trouble), 0, 12, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x1b[2J", "\x1b]0;t\a", "\x1bP", "\x1bc", "\x9b1;1H", strings.Repeat("\u0301", 40), strings.Repeat("क\u094d", 20)}),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 5), func(p []string) string { return strings.Join(p, "") })
}

func TestSanitizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := hostile().Draw(t, "in")
		for _, c := range []Charset{Unicode, ASCII} {
			checkSafe(t, c, in)
			width := rapid.IntRange(-1, 60).Draw(t, "width")
			if got, want := c.Line(in, width), c.Truncate(c.Sanitize(in), width); got != want {
				t.Fatalf("Line = %q, want %q", got, want)
			}
			block := c.SanitizeBlock(in)
			if again := c.SanitizeBlock(block); again != block {
				t.Fatalf("block not stable: %q, then %q", block, again)
			}
			for line := range strings.SplitSeq(block, "\n") {
				if c.Sanitize(line) != line {
					t.Fatalf("unsafe line %q", line)
				}
			}
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkSafe checks what Sanitize promises, and returns its result.
func checkSafe(t fataler, c Charset, in string) string {
	t.Helper()
	out := c.Sanitize(in)
	if again := c.Sanitize(out); again != out {
		t.Fatalf("not stable: %+q, then %+q", out, again)
	}
	if !utf8.ValidString(out) || (c == ASCII && !plain(out)) {
		t.Fatalf("%+q became %+q", in, out)
	}
	for _, r := range out {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) || (unicode.Is(unicode.Zs, r) && r != ' ') {
			t.Fatalf("%+q lets %U through", in, r)
		}
	}
	if byRune := wcwidth(out); Width(out) != byRune {
		t.Fatalf("%+q is %d columns by clusters and %d by runes", out, Width(out), byRune)
	}
	return out
}

// wcwidth measures as terminals do that know no grapheme clusters.
func wcwidth(s string) (n int) {
	for _, r := range s {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			n += ansi.StringWidth(string(r))
		}
	}
	return n
}

// TestEveryRune proves the table of refused runes against the width library: what
// passes has one width, does not join what stands to its right, and joins what stands
// to its left only if it is a combining mark.
func TestEveryRune(t *testing.T) {
	if unicode.Version != "15.0.0" {
		t.Errorf("Go knows Unicode %s: add what is new to the table of recent runes", unicode.Version)
	}
	cluster := func(s string) string {
		first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		return first
	}
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		s := string(r)
		if !utf8.ValidRune(r) {
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			base := "a" + s
			if Unicode.Sanitize(base) == base && (cluster(base) != base || Width(base) != 1) {
				t.Errorf("%U passes, but is no combining mark of width 0", r)
			}
			// Indic consonants are held together by a mark between them.
			for _, conjunct := range []string{"क" + s + "ष", "ക" + s + "ഷ", "က" + s + "က"} {
				if Unicode.Sanitize(conjunct) == conjunct && Width(conjunct) != 2 {
					t.Errorf("%U passes, but joins what follows", r)
				}
			}
			if got := Unicode.Sanitize(s); got == s {
				t.Errorf("%U passes without a base", r)
			}
			continue
		}
		if Unicode.Sanitize(s) != s {
			continue
		}
		if w := Width(s); w != 1 && w != 2 {
			t.Errorf("%U passes with width %d", r, w)
		}
		for _, other := range []string{"a", "가", "각", "😀", s} {
			if got := cluster(s + other); got != s {
				t.Errorf("%U joins %q to its right", r, other)
			}
			if got := cluster(other + s); got != other {
				t.Errorf("%U joins %q to its left", r, other)
			}
		}
	}
}

func TestSanitizeIsFree(t *testing.T) {
	s := strings.Repeat("card.charge charge-10442 ", 40)
	if n := testing.AllocsPerRun(100, func() { Unicode.Sanitize(s) }); n != 0 {
		t.Errorf("clean ASCII: %v allocations", n)
	}
	s = strings.Repeat("Zürich 東京 ", 40)
	if n := testing.AllocsPerRun(100, func() { Unicode.Sanitize(s) }); n != 0 {
		t.Errorf("clean Unicode: %v allocations", n)
	}
}

// A pathological text must cost what an ordinary one costs.
func TestSanitizeIsLinear(t *testing.T) {
	for _, unit := range []string{"\u0301", "क\u094d", "\t", "\u1100", "👩\u200d", "\x1b["} {
		checkLinear(t, unit, func(s string) { Unicode.SanitizeBlock(s) })
	}
}

func BenchmarkSanitize(b *testing.B) {
	for name, s := range map[string]string{
		"ASCII":   strings.Repeat("card.charge charge-10442 ", 40),
		"Unicode": strings.Repeat("Zürich 東京 ", 60),
		"hostile": strings.Repeat("\x1b[31m\u202ee\u0301 ", 70),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Unicode.Sanitize(s)
			}
		})
	}
}
