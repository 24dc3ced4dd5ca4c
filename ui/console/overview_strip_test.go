package console

import (
	"strings"
	"testing"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

func TestBars(t *testing.T) {
	unicode, err := theme.New("dark", text.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	ascii, err := theme.New("none", text.ASCII)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		values []int64
		height int
		th     *theme.Theme
		want   []string
	}{
		"nothing yet":               {nil, 1, unicode, []string{""}},
		"nothing done":              {[]int64{0, 0, 0}, 1, unicode, []string{"   "}},
		"one line":                  {[]int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, unicode, []string{" ▁▂▃▄▅▆▇█"}},
		"three lines":               {[]int64{0, 4, 8, 12, 16, 20, 24}, 3, unicode, []string{"     ▄█", "   ▄███", " ▄█████"}},
		"a little is not nothing":   {[]int64{1, 0, 1_000_000_000}, 1, unicode, []string{"▁ █"}},
		"nor over three lines":      {[]int64{1, 0, 1_000_000_000}, 3, unicode, []string{"  █", "  █", "▁ █"}},
		"one job is the most":       {[]int64{0, 1, 0}, 1, unicode, []string{" █ "}},
		"ascii":                     {[]int64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 1, ascii, []string{" ..::++##"}},
		"ascii over three lines":    {[]int64{1, 0, 1000}, 3, ascii, []string{"  #", "  #", ". #"}},
		"beyond what a float keeps": {[]int64{1<<62 - 1, 1 << 62}, 1, unicode, []string{"██"}},
	} {
		got := bars(c.values, c.height, c.th.Glyphs.Bars)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
