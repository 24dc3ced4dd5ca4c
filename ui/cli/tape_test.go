package cli_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// TestTape walks demo.tape, key by key, on the real program in a terminal of the tape's
// size. Each Wait+Screen has to come true.
func TestTape(t *testing.T) {
	if testing.Short() {
		t.Skip("takes over a minute, since a worker in it comes back to life after one")
	}
	t.Parallel()
	tape, err := os.Open("../../demo.tape")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tape.Close() }()
	var w watched
	lines := bufio.NewScanner(tape)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		command, argument, _ := strings.Cut(line, " ")
		switch command {
		case "", "#", "Output", "Set", "Hide", "Show":
		case "Sleep":
			// A dialog that has just opened swallows keys until there was quiet for 425 ms.
			time.Sleep(500 * time.Millisecond)
		case "Type":
			text, err := strconv.Unquote(argument)
			if err != nil {
				t.Fatalf("line %d: %v", n, err)
			}
			if arguments, isDemo := strings.CutPrefix(text, "go run . demo"); isDemo {
				w.start(t, strings.Fields(arguments))
				continue
			}
			for _, key := range text {
				w.press(t, string(key))
			}
		case "Enter", "Tab", "Escape":
			times := 1
			if argument != "" {
				if times, err = strconv.Atoi(argument); err != nil {
					t.Fatalf("line %d: %v", n, err)
				}
			}
			for range times {
				w.press(t, map[string]string{"Enter": "\r", "Tab": "\t", "Escape": "\x1b"}[command])
			}
		case "Wait+Screen":
			w.shows(t, n, regexp.MustCompile(strings.Trim(argument, "/")))
		default:
			t.Fatalf("line %d: this test does not know %q", n, command)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-w.ended:
	case <-time.After(time.Minute):
		t.Fatalf("it does not end:\n%s", w.text())
	}
}

// watched is a program in a terminal that shows what a person would see.
type watched struct {
	keys   io.Writer
	mutex  sync.Mutex
	screen *vt.Emulator
	ended  chan struct{}
}

func (w *watched) start(t *testing.T, arguments []string) {
	t.Helper()
	program, err := exec.LookPath("jobtop")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), program, append([]string{"demo"}, arguments...)...)
	command.Env = append(os.Environ(), "TERM=screen-256color", "TMUX=", "DATABASE_URL=", "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_STATE_HOME="+filepath.Join(home, "state"))
	w.screen, w.ended = vt.NewEmulator(118, 32), make(chan struct{})
	terminal, err := pty.StartWithSize(command, &pty.Winsize{Cols: 118, Rows: 32})
	if err != nil {
		t.Fatal(err)
	}
	w.keys = terminal
	go func() {
		defer close(w.ended)
		buffer := make([]byte, 32<<10)
		for {
			n, err := terminal.Read(buffer)
			w.mutex.Lock()
			_, _ = w.screen.Write(buffer[:n])
			w.mutex.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { _, _ = io.Copy(terminal, w.screen) }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		<-w.ended
		if pipe, ok := w.screen.InputPipe().(io.Closer); ok {
			_ = pipe.Close()
		}
		_ = terminal.Close()
	})
}

func (w *watched) press(t *testing.T, key string) {
	t.Helper()
	// As a person types: keys that come at once are a burst, which has its own tests.
	time.Sleep(30 * time.Millisecond)
	if _, err := io.WriteString(w.keys, key); err != nil {
		t.Fatal(err)
	}
}

func (w *watched) text() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.screen.String()
}

func (w *watched) shows(t *testing.T, line int, wanted *regexp.Regexp) {
	t.Helper()
	for end := time.Now().Add(120 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if wanted.MatchString(w.text()) {
			return
		}
		select {
		case <-w.ended:
			t.Fatalf("line %d: it ended:\n%s", line, w.text())
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("line %d: %s is not on the screen:\n%s", line, wanted, w.text())
		}
	}
}
