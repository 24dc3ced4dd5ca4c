package console

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"jobtop/ui/keys"
)

func on(t *testing.T, line string, change ...func(*Options)) *driver {
	t.Helper()
	d := start(t, scene(), 100, 30, change...)
	d.run(d.m.run(line))
	return d
}

// selectedID is the job that the list on the screen has selected.
func selectedID(d *driver) string {
	job, _ := d.m.screen().(*list).table.Selected()
	return job.ID
}

// Every key of the help does what the help says. A binding without a case here fails.
func TestEveryKeyOfTheHelp(t *testing.T) {
	goes := func(key, view string) func(*testing.T) {
		return func(t *testing.T) {
			d := on(t, "jobs state:dead")
			d.press(key)
			if got := d.m.screen().place(); got.view != view {
				t.Errorf("%s leads to %s, want %s", key, got, view)
			}
		}
	}
	selects := func(want string, keys ...string) func(*testing.T) {
		return func(t *testing.T) {
			d := on(t, "review")
			d.press(keys...)
			if got := selectedID(d); got != want {
				t.Errorf("%v selects %s, want %s", keys, got, want)
			}
		}
	}
	pages := func(want string, keys ...string) func(*testing.T) {
		return func(t *testing.T) {
			d := start(t, many(60), 80, 25) // 19 rows
			d.run(d.m.run("review bulk-*"))
			d.press(keys...)
			if got := selectedID(d); got != want {
				t.Errorf("%v selects %s, want %s", keys, got, want)
			}
		}
	}
	verb := func(key, line, title string) func(*testing.T) {
		return func(t *testing.T) {
			d := on(t, line)
			d.press(key)
			d.wants(title, "[ Cancel ]")
		}
	}
	cases := map[string]func(*testing.T){
		"overview": goes("1", "overview"), "stuck": goes("2", "stuck"), "review": goes("3", "review"), "jobs": goes("4", "jobs"), "actions": goes("5", "actions"),

		"down":      selects("invoice-88121", "j", "down"),
		"up":        selects("charge-10467", "j", "j", "j", "k", "up"),
		"top":       selects("charge-10442", "j", "j", "g"),
		"bottom":    selects("mail-30752", "G"),
		"half-down": pages("bulk-00009", "ctrl+d"),
		"half-up":   pages("bulk-00009", "ctrl+d", "ctrl+d", "ctrl+u"),
		"page-down": pages("bulk-00019", "pgdown"),
		"page-up":   pages("bulk-00019", "pgdown", "pgdown", "pgup"),
		"left": func(t *testing.T) {
			d := on(t, "overview")
			d.press("tab", "l", "right", "h")
			if l, _ := d.m.screen().(*overview).current(); l.name != "state running" {
				t.Errorf("selected %s", l.name)
			}
		},
		"right": func(t *testing.T) {
			d := on(t, "overview")
			d.press("tab", "l", "right")
			if l, _ := d.m.screen().(*overview).current(); l.name != "state done" {
				t.Errorf("selected %s", l.name)
			}
		},
		"open": func(t *testing.T) {
			d := on(t, "review")
			d.press("j", "enter")
			if got := d.m.screen().place(); got != (place{"job", "charge-10467"}) {
				t.Errorf("enter leads to %s", got)
			}
		},
		"back": func(t *testing.T) {
			d := on(t, "review kind:card.charge")
			d.press(" ", "esc")
			d.wants("/kind:card.charge")
			d.lacks("1 marked")
			d.press("esc")
			d.lacks("/kind:card.charge")
			d.press("esc")
			if got := d.m.screen().place().view; got != "overview" {
				t.Errorf("the third esc leads to %s", got)
			}
		},
		"older": func(t *testing.T) {
			d := on(t, "review")
			d.press("enter", "4", "[")
			if got := d.m.screen().place(); got != (place{"job", "charge-10442"}) {
				t.Errorf("[ leads to %s", got)
			}
		},
		"newer": func(t *testing.T) {
			d := on(t, "review")
			d.press("4", "[", "]")
			if got := d.m.screen().place().view; got != "jobs" {
				t.Errorf("] leads to %s", got)
			}
		},
		"section": func(t *testing.T) {
			d := on(t, "job charge-10442")
			d.press("tab")
			d.wants("[error]", "no answer within 30s")
		},
		"section-back": func(t *testing.T) {
			d := on(t, "job charge-10442")
			d.press("shift+tab")
			d.wants("[payload]", "1970670598291982290")
		},
		"filter": func(t *testing.T) {
			d := on(t, "jobs")
			d.press("/")
			d.typing("state:dead")
			d.press("enter")
			d.wants("/state:dead", "charge-10440")
			d.lacks("charge-10442")
		},
		"next-match": func(t *testing.T) {
			d := on(t, "review")
			d.press("/")
			d.typing("kind:invoice.send")
			d.press("enter", "esc", "n", "n")
			if got := selectedID(d); got != "invoice-88140" {
				t.Errorf("n selects %s", got)
			}
		},
		"previous-match": func(t *testing.T) {
			d := on(t, "review")
			d.press("/")
			d.typing("kind:invoice.send")
			d.press("enter", "esc", "g", "N")
			if got := selectedID(d); got != "invoice-88140" {
				t.Errorf("N selects %s", got)
			}
		},
		"group": func(t *testing.T) {
			d := on(t, "review")
			d.press("b")
			d.wants("by kind", "40 %")
			d.press("j", "enter")
			d.wants("/kind:invoice.send", "invoice-88121")
			d.lacks("mail-30752")
		},
		"sort": func(t *testing.T) {
			d := on(t, "review")
			d.press("s", "s")
			d.wants("by kind")
			if shown := slices.Collect(d.m.screen().(*list).table.Shown()); shown[0].Kind != "card.charge" || shown[4].Kind != "mail.send" {
				t.Error("not sorted by kind")
			}
		},
		"reverse": func(t *testing.T) {
			d := on(t, "review")
			d.press("s", "S")
			d.wants("by id, reversed")
			if shown := slices.Collect(d.m.screen().(*list).table.Shown()); shown[0].ID != "mail-30752" {
				t.Errorf("first is %s", shown[0].ID)
			}
		},
		"mark": func(t *testing.T) {
			d := on(t, "review")
			d.press(" ", " ")
			d.wants("2 marked")
			d.press("k", " ")
			d.wants("1 marked")
		},
		"mark-all": func(t *testing.T) {
			d := on(t, "review kind:card.charge")
			d.press("*")
			d.wants("2 marked")
			d.press("*")
			d.lacks("marked")
		},
		"wide": func(t *testing.T) {
			d := on(t, "review")
			d.lacks("effect key")
			d.press("w")
			d.wants("effect key")
		},
		"requeue": verb("E", "review", "Requeue charge-10442"),
		"done":    verb("D", "review", "Mark done charge-10442"),
		"dead":    verb("X", "review", "Mark dead charge-10442"),
		"hold":    verb("H", "jobs state:failed", "Hold invoice-90002"),
		"lookup":  func(t *testing.T) { lookUp(t) },
		"results": func(t *testing.T) {
			d := on(t, "review id:invoice-88140")
			act(d, "E", "ticket")
			d.press("o")
			d.wants("Your acts", "invoice-88140 was requeued")
		},
		"copy": func(t *testing.T) {
			d := on(t, "review")
			d.press("j", "y")
			if got, want := d.sent.String(), "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("charge-10467"))+"\a"; got != want {
				t.Errorf("sent %q, want %q", got, want)
			}
			d.press("y")
			d.wants("Select the id by hand")
		},
		"copy-error": func(t *testing.T) {
			d := on(t, "review id:mail-30752")
			d.press("Y")
			if got, want := d.clipped(), `connection lost: \x1b]0;owned\x07 \u202egnp.exe password=•••• after the tab`; got != want {
				t.Errorf("copied %q, want %q", got, want)
			}
		},
		"pause": func(t *testing.T) {
			d := on(t, "review")
			d.press("p")
			before := len(d.db.queries)
			d.pass(time.Minute)
			if len(d.db.queries) != before {
				t.Error("the screen is paused, and reads all the same")
			}
			d.wants("paused")
			d.press("p")
			d.refresh()
			if len(d.db.queries) == before {
				t.Error("nothing is read after the pause")
			}
		},
		"faster": func(t *testing.T) {
			d := on(t, "review")
			d.press("+")
			d.wants("refreshed every 1.0s")
		},
		"slower": func(t *testing.T) {
			d := on(t, "review")
			d.press("-")
			d.wants("refreshed every 5.0s")
		},
		"refresh": func(t *testing.T) {
			d := on(t, "review")
			before := len(d.db.queries)
			d.press("R", "ctrl+r")
			if got := len(d.db.queries) - before; got < 2 {
				t.Errorf("read %d times", got)
			}
		},
		"count": func(t *testing.T) {
			d := on(t, "review")
			d.press("#")
			d.settle()
			d.press("enter")
			d.wants("Count every job", "review 5", "all 12")
		},
		"redraw": func(t *testing.T) {
			d := on(t, "review")
			d.press("ctrl+l")
			if !d.screen {
				t.Error("the screen was not cleared")
			}
		},
		"command": func(t *testing.T) {
			d := on(t, "review")
			d.press(":")
			d.typing("job charge-9001")
			d.press("enter")
			d.wants("HAPPENED", "ch_8121")
		},
		"help": func(t *testing.T) {
			d := on(t, "review")
			d.press("?")
			d.wants("Keys of review", "next row")
		},
		"suspend": func(t *testing.T) {
			d := on(t, "review")
			_, cmd := d.m.Update(keyMsg("ctrl+z"))
			if !suspends(cmd) {
				t.Error("ctrl-z does not suspend")
			}
		},
		"quit": func(t *testing.T) {
			d := on(t, "review")
			d.press("enter", "q", "q")
			if got := d.m.screen().place().view; got != "overview" || d.quit {
				t.Fatalf("at %s, quit %v", got, d.quit)
			}
			d.press("q")
			if !d.quit {
				t.Error("q on the overview does not quit")
			}
		},
		"leave": func(t *testing.T) {
			d := on(t, "job charge-10442")
			d.press("ctrl+c")
			if !d.quit {
				t.Error("ctrl-c does not leave")
			}
		},
	}
	keymap, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range keymap.All() {
		if cases[b.ID] == nil {
			t.Errorf("no case for %s (%s)", b.ID, b.Label())
			continue
		}
		t.Run(b.ID, cases[b.ID])
	}
}

// Whatever the help of a screen lists is bound there, and each binding appears in it.
func TestHelpListsTheBindings(t *testing.T) {
	for _, line := range []string{"overview", "stuck", "review", "jobs", "actions", "job charge-10442"} {
		d := start(t, scene(), 120, 100)
		d.run(d.m.run(line))
		bindings := d.m.bindings()
		d.press("?")
		for _, b := range bindings {
			d.wants(b.Label())
		}
	}
}

// A key that cannot be used now says why, and the key line leaves it out.
func TestAKeyThatCannotBeUsedSaysWhy(t *testing.T) {
	for _, c := range []struct{ line, key, want string }{
		{"jobs state:done", "E", "nothing leaves done"},
		{"jobs id:charge-11601", "D", "its worker is alive"},
		{"review kind:none", "E", "no job is selected"},
		{"review", "L", "no lookup command is configured for card.charge"},
		{"review", "H", "it is in review already"},
		{"overview", "esc", "q quits"},
		{"overview", "]", "nothing after this"},
		{"overview", "o", "no acts so far"},
		{"review", "n", "type a filter with / first"},
		{"job charge-9001", "Y", "the job has no error"},
	} {
		d := on(t, c.line)
		d.press(c.key)
		d.wants(c.want)
		if d.m.env.dialogs.top() != nil {
			t.Errorf("%s on %s opened a dialog", c.key, c.line)
		}
	}
	d := on(t, "jobs state:done")
	line := d.view()[29]
	for _, not := range []string{"E requeue", "X dead"} {
		if strings.Contains(line, not) {
			t.Errorf("the key line offers %s on a done job: %s", not, line)
		}
	}
}

// No lower-case letter opens anything that writes.
func TestNoLowerCaseKeyWrites(t *testing.T) {
	for _, line := range []string{"overview", "stuck", "review", "jobs", "actions", "job charge-10442"} {
		for r := 'a'; r <= 'z'; r++ {
			d := on(t, line)
			d.press(string(r))
			d.settle()
			d.press("enter", "enter", "enter")
			if n := len(d.db.acts); n > 0 {
				t.Errorf("%c and enter on %s sent %d acts", r, line, n)
			}
		}
	}
}
