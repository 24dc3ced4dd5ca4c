package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"jobtop/ui/text"
)

// onTerminal starts a jobtop on a terminal of that many columns.
func (f *fault) onTerminal(columns uint16, arguments ...string) (*exec.Cmd, *os.File, *recording) {
	f.t.Helper()
	command := exec.Command("jobtop", arguments...)
	command.Env = f.env
	terminal, err := pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: columns})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = terminal.Close() })
	shown := &recording{done: make(chan struct{})}
	go func() {
		_, _ = io.Copy(shown, terminal)
		close(shown.done)
	}()
	return command, terminal, shown
}

// recording is what a terminal was sent.
type recording struct {
	mu   sync.Mutex
	b    bytes.Buffer
	done chan struct{}
}

func (r *recording) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *recording) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// await waits until something was shown.
func (r *recording) await(t *testing.T, what string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(r.String(), what); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%q was not shown:\n%q", what, r.String())
		}
	}
}

var looks = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// On a terminal tables have colours, and are cut to its width.
func TestTablesOnTerminal(t *testing.T) {
	f := newFault(t)
	for _, arguments := range [][]string{{"list"}, {"list", "stuck"}, {"list", "receipts"}, {"actions"}, {"status"}, {"show", "charge-10442"}, {"show", "invoice-88121"}} {
		for _, columns := range []uint16{60, 80, 200} {
			command, _, shown := f.onTerminal(columns, arguments...)
			if err := command.Wait(); err != nil {
				t.Fatal(err)
			}
			<-shown.done
			if !looks.MatchString(shown.String()) {
				t.Errorf("jobtop %v: no colours:\n%q", arguments, shown)
			}
			for line := range strings.Lines(strings.ReplaceAll(looks.ReplaceAllString(shown.String(), ""), "\r", "")) {
				line = strings.TrimSuffix(line, "\n")
				if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' }) {
					t.Errorf("jobtop %v: a control character: %q", arguments, line)
				}
				if text.Width(line) > int(columns) {
					t.Errorf("jobtop %v on %d columns: %d wide: %s", arguments, columns, text.Width(line), line)
				}
			}
		}
	}
	f.env = append(f.env, "NO_COLOR=1")
	command, _, shown := f.onTerminal(80, "list")
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	<-shown.done
	if strings.Contains(shown.String(), "\x1b") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", shown)
	}
}

// The console opens on a terminal, at the view that is asked for, and q leaves it.
func TestConsoleOpens(t *testing.T) {
	f := newFault(t)
	command, terminal, shown := f.onTerminal(80, "-c", "review")
	shown.await(t, "charge-10442")
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	// The first q goes back from the review, the next one leaves.
	for deadline := time.Now().Add(time.Minute); ; {
		_, _ = terminal.WriteString("q")
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v\n%q", err, shown)
			}
		case <-time.After(100 * time.Millisecond):
			if time.Now().After(deadline) {
				t.Fatalf("q does not leave:\n%q", shown)
			}
			continue
		}
		break
	}
	<-shown.done
	contains(t, "the terminal", shown.String(), "\x1b[?1049h", "\x1b[?1049l")
}

// Signals end the console with the terminal as it was.
func TestConsoleSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			f := newFault(t)
			command, _, shown := f.onTerminal(80, "-c", "review")
			shown.await(t, "charge-10442")
			if err := command.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			if got := command.ProcessState.ExitCode(); got != 128+int(s) {
				t.Errorf("exit status %d, want %d", got, 128+int(s))
			}
			shown.await(t, "\x1b[?1049l")
			shown.await(t, "\x1b[?25h")
		})
	}
}
