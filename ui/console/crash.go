package console

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
)

// CrashError says that a bug of ours ended the console. The terminal is as it was before.
type CrashError struct {
	What string // what the panic said
	Log  string // the file that holds the details, "" if none could be written
	Err  error  // why not
}

func (e *CrashError) Error() string {
	where := "the details are in " + e.Log
	if e.Log == "" {
		where = fmt.Sprintf("the details could not be kept: %v", e.Err)
	}
	return text.Unicode.Line("a bug in jobtop ended the console: "+text.Unicode.MaskText(e.What), 300) + "; " + where + "; an act that was under way is settled at the next start"
}

// crashGrace is how long a program that panicked may take to end by itself.
const crashGrace = 2 * time.Second

// guarded is a program whose panics, in Bubble Tea's own goroutines too, end it in good
// order: the library would print a stack over the screen.
type guarded struct {
	tea.Model
	crashed func(what any, stack []byte)
}

// Init is the model's.
func (g guarded) Init() tea.Cmd {
	defer g.recover()
	return g.command(g.Model.Init())
}

// Update is the model's.
func (g guarded) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return g, g.command(g.update(msg))
}

func (g guarded) update(msg tea.Msg) tea.Cmd {
	defer g.recover()
	_, cmd := g.Model.Update(msg)
	return cmd
}

// View is the model's.
func (g guarded) View() string {
	defer g.recover()
	return g.Model.View()
}

// command guards a command and those that it leads to.
func (g guarded) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.recover()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.command(batch[i])
			}
		}
		return msg
	}
}

func (g guarded) recover() {
	if r := recover(); r != nil {
		g.crashed(r, debug.Stack())
	}
}

// keepCrash writes down what a panic said and where, in a file of its own that only its
// user can read.
func keepCrash(directory string, what any, stack []byte) *CrashError {
	e := &CrashError{What: fmt.Sprint(what)}
	if directory == "" {
		directory = os.TempDir()
	}
	if e.Err = os.MkdirAll(directory, 0o700); e.Err != nil {
		return e
	}
	path := filepath.Join(directory, fmt.Sprintf("crash-%s-%d.txt", time.Now().UTC().Format("20060102T150405Z"), os.Getpid()))
	if e.Err = os.WriteFile(path, fmt.Appendf(nil, "%s\n\n%s", text.Unicode.MaskText(e.What), stack), 0o600); e.Err == nil {
		e.Log = path
	}
	return e
}
