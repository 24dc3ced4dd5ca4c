package console

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
)

// shows are ways to every screen and dialog.
var shows = map[string][]string{
	"overview": nil, "stuck": {"2"}, "review": {"3"}, "marked": {"3", "*"}, "grouped": {"3", "b"}, "filter": {"3", "/", "x"}, "jobs": {"4"}, "wide": {"4", "w"},
	"actions": {"5"}, "action": {"5", "tab"}, "job": {"3", "enter"}, "error": {"3", "enter", "tab"}, "payload": {"3", "enter", "tab", "tab"},
	"help": {"?"}, "command": {":", "r"}, "requeue": {"3", "E"}, "done": {"3", "D"}, "bulk": {"3", "*", "E"}, "count": {"#"}, "kinds": {"tab", "tab", "j", "j"},
}

// Every screen fits every size, from a single cell on.
func TestEverySize(t *testing.T) {
	for name, keys := range shows {
		t.Run(name, func(t *testing.T) {
			d := start(t, many(40), 80, 24)
			d.press(keys...)
			for _, width := range []int{1, 2, 3, 7, 19, 20, 39, 40, 59, 60, 61, 72, 77, 80, 99, 100, 120, 200, 300} {
				for _, height := range []int{1, 2, 4, 5, 6, 14, 15, 16, 20, 24, 40, 100} {
					fits(t, d, width, height)
				}
			}
		})
	}
}

func fits(t *testing.T, d *driver, width, height int) {
	t.Helper()
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	lines := strings.Split(d.m.View(), "\n")
	if len(lines) > height {
		t.Fatalf("%d lines at %dx%d", len(lines), width, height)
	}
	for _, line := range lines {
		if got := text.Width(line); got > width {
			t.Fatalf("%d columns at %dx%d: %q", got, width, height, line)
		}
	}
}

func TestTooSmallSaysWhatIsNeeded(t *testing.T) {
	d := start(t, scene(), 59, 15)
	d.wants("jobtop needs 60x15, this is 59x15")
	d.send(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.lacks("needs 60x15")
}

// A screen that shows nothing takes nothing: what was open stays as it was.
func TestTooSmallTakesNoKeys(t *testing.T) {
	d := start(t, scene(), 80, 24)
	d.run(d.m.run("review id:invoice-88140"))
	d.press("X")
	d.settle()
	d.typing("ticket")
	before := d.text()
	for _, size := range []tea.WindowSizeMsg{{Width: 40, Height: 10}, {Width: 59, Height: 40}, {Width: 120, Height: 14}} {
		d.send(size)
		d.press("tab", "tab", "x", "enter")
		d.settle()
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("more"), Paste: true})
		d.press("enter", "esc", "q")
		if len(d.db.acts) != 0 || d.quit {
			t.Fatalf("at %v: sent %+v, quit %v", size, d.db.acts, d.quit)
		}
	}
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := d.text(); got != before {
		t.Errorf("the screen was\n%s\nand is\n%s", before, got)
	}
	d.send(tea.WindowSizeMsg{Width: 40, Height: 10})
	d.press("ctrl+c")
	if !d.quit {
		t.Error("ctrl-c does not leave")
	}
}

// Whatever keys are pressed at whatever size, the screen stands and fits.
func FuzzKeysAndSizes(f *testing.F) {
	f.Add([]byte("3jjE"), uint16(20), uint16(4))
	f.Add([]byte("4wbb\rj"), uint16(60), uint16(15))
	f.Add([]byte("1\tll\r"), uint16(300), uint16(100))
	f.Add([]byte("5\t\x1b3*Ex\r2\r\r"), uint16(80), uint16(24))
	f.Fuzz(func(t *testing.T, keys []byte, width, height uint16) {
		if len(keys) > 60 {
			return
		}
		d := start(t, many(8), 80, 24)
		for i, b := range keys {
			switch b {
			case '\r':
				d.press("enter")
			case '\t':
				d.press("tab")
			case 0x1b:
				d.press("esc")
			case 0x1a, 3:
			default:
				if b < 0x20 || b > 0x7e {
					continue
				}
				d.press(string(rune(b)))
			}
			d.settle()
			if i%8 == 7 {
				fits(t, d, 1+int(width)%300, 1+int(height)%100)
			}
		}
		fits(t, d, 1+int(width)%300, 1+int(height)%100)
	})
}
