package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store/sandbox/sandboxtest"
)

// A panic in a command gives the terminal back. One line says what happened and where the
// details are; no stack runs over the screen.
func TestLivePanicGivesTheTerminalBack(t *testing.T) {
	dsn := sandboxtest.Database(t)
	live(t, dsn)
	kept := t.TempDir()
	s := inTerminal(t, dsn, "review", 200, 24, asPanic+"=1", asCrashes+"="+kept)
	s.shows("charge-5", "RW")
	s.keys("5")
	s.ends(3)

	logs, err := filepath.Glob(filepath.Join(kept, "crash-*.txt"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("kept are %v, %v", logs, err)
	}
	shown := strings.Join(strings.Fields(s.text()), " ") // the emulator may have broken the line
	if !strings.Contains(shown, `ended: a bug in jobtop ended the console: a bug in a command, password=`) ||
		!strings.Contains(strings.ReplaceAll(shown, " ", ""), logs[0]) {
		t.Errorf("the screen is\n%s", s.text())
	}
	for _, not := range []string{"hunter2", "goroutine", ".go:", "panic("} {
		if strings.Contains(shown, not) {
			t.Errorf("the screen shows %q:\n%s", not, s.text())
		}
	}
	details, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(details), "panics.Actions") || strings.Contains(string(details), "hunter2") {
		t.Errorf("the details are\n%s", details)
	}
	if info, err := os.Stat(logs[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// faulty panics where it is told to.
type faulty struct{ where string }

func (f faulty) at(where string) {
	if f.where == where {
		panic("in " + where)
	}
}

func (f faulty) Init() tea.Cmd {
	f.at("init")
	return nil
}

func (f faulty) Update(tea.Msg) (tea.Model, tea.Cmd) {
	f.at("update")
	return f, tea.Batch(func() tea.Msg { return nil }, tea.Batch(func() tea.Msg { return nil }, func() tea.Msg {
		f.at("a command of a batch")
		return nil
	}))
}

func (f faulty) View() string {
	f.at("view")
	return "shown"
}

// No panic reaches Bubble Tea, wherever it is.
func TestPanicsAreCaughtEverywhere(t *testing.T) {
	for _, where := range []string{"init", "update", "view", "a command of a batch"} {
		var what any
		var stack string
		g := guarded{faulty{where}, func(r any, s []byte) { what, stack = r, string(s) }}
		g.Init()
		g.View()
		next, cmd := g.Update(nil)
		if _, still := next.(guarded); !still {
			t.Errorf("%s: the program goes on without a guard", where)
		}
		var run func(tea.Cmd)
		run = func(cmd tea.Cmd) {
			if cmd == nil {
				return
			}
			if batch, ok := cmd().(tea.BatchMsg); ok {
				for _, c := range batch {
					run(c)
				}
			}
		}
		run(cmd)
		if what != "in "+where || !strings.Contains(stack, "faulty.at") {
			t.Errorf("%s: caught %v at %s", where, what, stack)
		}
	}
}

// What cannot be kept is said, and the line stays one.
func TestACrashThatCannotBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := keepCrash(filepath.Join(file, "below"), "first\nsecond", nil).Error()
	if !strings.Contains(said, `first\nsecond`) || !strings.Contains(said, "could not be kept") || strings.Contains(said, "\n") {
		t.Errorf("it says %q", said)
	}
}
