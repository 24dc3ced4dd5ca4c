package theme

import (
	"reflect"
	"strings"
	"testing"

	"jobtop/ui/text"
)

func TestNoneHasNoColour(t *testing.T) {
	th, err := New("none", text.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	for role := range roles {
		if drawn := th.In(role, "x"); strings.Contains(drawn, "3") || strings.Contains(drawn, "9") {
			t.Errorf("role %d has a colour: %q", role, drawn)
		}
	}
	if th.In(Selected, "x") == "x" {
		t.Error("the selected row shows no difference without colours")
	}
}

func TestUnknownName(t *testing.T) {
	if _, err := New("solarized", text.Unicode); err == nil || !strings.Contains(err.Error(), "auto, dark, light, none") {
		t.Errorf("got %v", err)
	}
	for _, name := range Names() {
		if _, err := New(name, text.ASCII); err != nil {
			t.Error(err)
		}
	}
}

func TestASCIIGlyphs(t *testing.T) {
	v := reflect.ValueOf(asciiGlyphs)
	for i := range v.NumField() {
		var all []string
		if s, ok := v.Field(i).Interface().(string); ok {
			all = []string{s}
		} else {
			all = v.Field(i).Interface().([]string)
		}
		for _, s := range all {
			if text.ASCII.Sanitize(s) != s || len(s) != 1 {
				t.Errorf("%s is %q", v.Type().Field(i).Name, s)
			}
		}
	}
}

func TestLine(t *testing.T) {
	th, err := New("dark", text.Unicode)
	if err != nil {
		t.Fatal(err)
	}
	make3 := func() *Line {
		var l Line
		return l.Add(Plain, "ab ").Add(Bad, "worse").Gap(10).Add(Bad, "end")
	}
	for width, want := range map[int]string{
		20: "ab \x1b[1;31mworse\x1b[m  \x1b[1;31mend\x1b[m",
		13: "ab \x1b[1;31mworse\x1b[m  \x1b[1;31mend\x1b[m",
		12: "ab \x1b[1;31mworse\x1b[m  \x1b[1;31me…\x1b[m",
		8:  "ab \x1b[1;31mwors…\x1b[m",
		3:  "ab…",
		1:  "…",
		0:  "",
	} {
		if got := make3().Draw(th, width); got != want {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
	if got, want := make3().DrawAll(th, Selected, 15), "\x1b[7mab worse  end  \x1b[m"; got != want {
		t.Errorf("selected: got %q, want %q", got, want)
	}
	var left, right Line
	left.Add(Plain, "left")
	right.Add(Plain, "right")
	for width, want := range map[int]string{12: "left   right", 10: "left right", 9: "left"} {
		l := Spread(left, right, width)
		if got := l.Text(); got != want {
			t.Errorf("spread over %d: got %q, want %q", width, got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	for colour, want := range map[string]string{
		"9": "\x1b[1;7;91mlive\x1b[m", "#ff8000": "\x1b[1;7;38;2;255;128;0mlive\x1b[m", "": "\x1b[1;7mlive\x1b[m", "red\x1b[2J": "\x1b[1;7mlive\x1b[m",
	} {
		th, err := New("dark", text.Unicode)
		if err != nil {
			t.Fatal(err)
		}
		th.Paint(colour)
		if got := th.In(Profile, "live"); got != want {
			t.Errorf("%q: got %q, want %q", colour, got, want)
		}
	}
	th, _ := New("none", text.Unicode)
	th.Paint("9")
	if got, want := th.In(Profile, "live"), "\x1b[1;7mlive\x1b[m"; got != want {
		t.Errorf("without colours: got %q, want %q", got, want)
	}
}
