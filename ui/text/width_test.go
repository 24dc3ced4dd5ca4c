package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		in     string
		width  int
		end    string
		middle string
	}{
		{"charge-10442", 12, "charge-10442", "charge-10442"},
		{"charge-10442", 11, "charge-104…", "charg…10442"},
		{"charge-10442", 4, "cha…", "ch…2"},
		{"charge-10442", 1, "…", "…"},
		{"charge-10442", 0, "", ""},
		{"charge-10442", -3, "", ""},
		{"", 0, "", ""},
		{"東京都", 6, "東京都", "東京都"},
		{"東京都", 5, "東京…", "東…都"},
		{"東京都", 4, "東…", "東…"},
		{"東京都", 2, "…", "…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", "e\u0301…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301"},
	} {
		if got := Unicode.Truncate(tc.in, tc.width); got != tc.end {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.end)
		}
		if got := Unicode.TruncateMiddle(tc.in, tc.width); got != tc.middle {
			t.Errorf("TruncateMiddle(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.middle)
		}
	}
	if got, want := ASCII.Truncate("charge-10442", 8), "charge-~"; got != want {
		t.Errorf("ASCII.Truncate = %q, want %q", got, want)
	}
}

func TestPad(t *testing.T) {
	for _, tc := range []struct {
		in          string
		width       int
		right, left string
	}{
		{"40", 5, "40   ", "   40"},
		{"東", 3, "東 ", " 東"},
		{"long", 2, "long", "long"},
		{"x", -1, "x", "x"},
	} {
		if got := PadRight(tc.in, tc.width); got != tc.right {
			t.Errorf("PadRight(%q, %d) = %q", tc.in, tc.width, got)
		}
		if got := PadLeft(tc.in, tc.width); got != tc.left {
			t.Errorf("PadLeft(%q, %d) = %q", tc.in, tc.width, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"a", 0, nil},
		{"a", -1, nil},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one  two", 4, []string{"one", "two"}},
		{"abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"a bcdefgh", 3, []string{"a", "bcd", "efg", "h"}},
		{"a\n\nb\n", 3, []string{"a", "", "b", ""}},
		{"  in de nt", 5, []string{"  in", "de nt"}},
		{"       far", 5, []string{"far"}},
		{"       ", 3, []string{""}},
		{"東京都", 4, []string{"東京", "都"}},
		{"a東b", 1, []string{"a", "?", "b"}},
		{"e\u0301e\u0301", 1, []string{"e\u0301", "e\u0301"}},
	} {
		if got := Wrap(tc.in, tc.width); !slices.Equal(got, tc.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tc.in, tc.width, got, tc.want)
		}
	}
}

func TestFittingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom([]Charset{Unicode, ASCII}).Draw(t, "charset")
		in := c.Sanitize(hostile().Draw(t, "in"))
		width := rapid.IntRange(-2, 40).Draw(t, "width")

		for _, cut := range []string{c.Truncate(in, width), c.TruncateMiddle(in, width)} {
			switch {
			case Width(cut) > max(width, 0):
				t.Fatalf("%q is %d columns, not %d", cut, Width(cut), width)
			case Width(in) <= width && cut != in:
				t.Fatalf("%q fits, but became %q", in, cut)
			case c.Sanitize(cut) != cut:
				t.Fatalf("cutting made %q unsafe: %q", in, cut)
			}
			if start, end, ok := strings.Cut(cut, c.Ellipsis()); ok && !strings.Contains(in, c.Ellipsis()) {
				if !strings.HasPrefix(in, start) || !strings.HasSuffix(in, end) && end != "" {
					t.Fatalf("%q is no part of %q", cut, in)
				}
			}
		}
		if padded := PadLeft(PadRight(in, width), width+3); Width(padded) != max(Width(in), width+3) {
			t.Fatalf("padded to %d columns, want %d", Width(padded), max(Width(in), width+3))
		}
	})
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Unicode.SanitizeBlock(hostile().Draw(t, "in") + " " + hostile().Draw(t, "more"))
		width := rapid.IntRange(2, 40).Draw(t, "width")
		lines := Wrap(in, width)
		for _, line := range lines {
			if Width(line) > width || strings.Contains(line, "\n") || Unicode.Sanitize(line) != line {
				t.Fatalf("line %q in %d columns", line, width)
			}
		}
		ink := strings.NewReplacer(" ", "", "\n", "")
		if got, want := ink.Replace(strings.Join(lines, "")), ink.Replace(in); got != want {
			t.Fatalf("%q became %q", want, got)
		}
		if len(lines) < strings.Count(in, "\n")+1 {
			t.Fatalf("%d lines of %q", len(lines), in)
		}
	})
}

func TestWrapIsLinear(t *testing.T) {
	for _, unit := range []string{"x", " ", "a    ", "東", "\n", "aa "} {
		checkLinear(t, unit, func(s string) { Wrap(s, 70) })
	}
}
