package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
)

// The environment under which this test binary is a console instead.
const (
	asConsole = "JOBTOP_TEST_CONSOLE" // the database's URL
	asView    = "JOBTOP_TEST_VIEW"
	asPanic   = "JOBTOP_TEST_PANIC"
	asCrashes = "JOBTOP_TEST_CRASHES" // where their details are kept
	asLooks   = "JOBTOP_TEST_LOOKS"   // a file that gets a byte with each look
	asShare   = "JOBTOP_TEST_SHARE"   // of one core for reading, where that is the matter
)

func TestMain(m *testing.M) {
	dsn := os.Getenv(asConsole)
	if dsn == "" {
		// Under nohup, the consoles that the tests start would ignore a hang-up, as they should.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
		os.Exit(m.Run())
	}
	db, err := store.Open(context.Background(), store.Options{DSN: dsn})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	var reader Reader = db
	if os.Getenv(asPanic) != "" {
		reader = panics{db}
	}
	if path := os.Getenv(asLooks); path != "" {
		reader = noted{db, path}
	}
	// The whole core: on a busy machine a look has its price, and no test is to wait for the
	// budget unless it is about that.
	share := 1.0
	if text := os.Getenv(asShare); text != "" {
		if share, err = strconv.ParseFloat(text, 64); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	err = Run(context.Background(), Options{
		DB: reader, CrashDirectory: os.Getenv(asCrashes), Operator: "alice", View: os.Getenv(asView), Refresh: leastRefresh, Config: config.Config{Share: share},
		Runner: &actions.Runner{DB: db, Operator: "alice", Client: "test"},
	})
	db.Close()
	if err != nil {
		fmt.Println("ended:", err)
		os.Exit(3)
	}
	fmt.Println("bye")
}

// panics is a database whose log of actions is a bug of ours.
type panics struct{ *store.DB }

func (panics) Actions(context.Context, store.ActionQuery) (store.ActionPage, error) {
	panic("a bug in a command, password=hunter2\x1b[2J")
}

// noted is a database that notes each look in a file.
type noted struct {
	*store.DB
	path string
}

func (n noted) Poll(ctx context.Context) (store.Poll, error) {
	p, err := n.DB.Poll(ctx)
	file, openErr := os.OpenFile(n.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if openErr != nil {
		return p, openErr
	}
	_, writeErr := file.WriteString(".")
	return p, errors.Join(err, writeErr, file.Close())
}

// terminalTest is a console in a terminal: a real pty, and an emulator that shows what a
// person would see.
type terminalTest struct {
	t       testing.TB
	process *exec.Cmd
	pty     *os.File
	mutex   sync.Mutex
	screen  *vt.Emulator
	modes   map[string]bool
	bytes   int
	ended   chan struct{} // closed when the output ends
	exit    chan struct{}
}

// inTerminal starts a console in a terminal of a size.
func inTerminal(t testing.TB, dsn, view string, width, height int, environment ...string) *terminalTest {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, "-test.run=^$")
	// Elsewhere Bubble Tea asks the terminal for its colours, and waits five seconds.
	command.Env = append(os.Environ(), "TERM=screen-256color", "TMUX=", "TZ=UTC", asConsole+"="+dsn, asView+"="+view)
	command.Env = append(command.Env, environment...)
	return inTerminalOf(t, width, height, command)
}

// inTerminalRun starts any command in a terminal of a size.
func inTerminalRun(t testing.TB, width, height int, words ...string) *terminalTest {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), "TERM=xterm")
	return inTerminalOf(t, width, height, command)
}

func inTerminalOf(t testing.TB, width, height int, command *exec.Cmd) *terminalTest {
	t.Helper()
	s := &terminalTest{t: t, screen: vt.NewEmulator(width, height), modes: map[string]bool{"cursor": true}, ended: make(chan struct{}), exit: make(chan struct{})}
	s.screen.SetCallbacks(vt.Callbacks{
		AltScreen:        func(on bool) { s.modes["alternate"] = on },
		CursorVisibility: func(on bool) { s.modes["cursor"] = on },
		Title:            func(string) { s.modes["title"] = true },
	})
	s.process = command
	var err error
	s.pty, err = pty.StartWithSize(s.process, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	if err != nil {
		t.Fatal(err)
	}
	go s.listen()
	// What a program asks the terminal, the emulator answers.
	go func() { _, _ = io.Copy(s.pty, s.screen) }()
	go func() {
		_ = s.process.Wait() // its status is in ProcessState
		close(s.exit)
	}()
	t.Cleanup(func() {
		_ = s.process.Process.Kill()
		<-s.ended
		if pipe, ok := s.screen.InputPipe().(io.Closer); ok {
			_ = pipe.Close() // Close itself races with Read
		}
		_ = s.pty.Close()
	})
	return s
}

func (s *terminalTest) listen() {
	defer close(s.ended)
	buffer := make([]byte, 32<<10)
	for {
		n, err := s.pty.Read(buffer)
		s.mutex.Lock()
		s.bytes += n
		_, _ = s.screen.Write(buffer[:n])
		s.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what the screen shows, without trailing blanks.
func (s *terminalTest) text() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var lines []string
	for y := range s.screen.Height() {
		var line strings.Builder
		for x := range s.screen.Width() {
			if cell := s.screen.CellAt(x, y); cell != nil && cell.Width > 0 {
				line.WriteString(cell.Content)
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return strings.Join(lines, "\n")
}

func (s *terminalTest) sent() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.bytes
}

func (s *terminalTest) mode(name string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.modes[name]
}

// eventually waits until a condition holds.
func (s *terminalTest) eventually(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !holds() {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not within a minute; the screen is\n%s", what, s.text())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// shows waits until the screen shows texts.
func (s *terminalTest) shows(texts ...string) {
	s.t.Helper()
	for _, want := range texts {
		s.eventually(fmt.Sprintf("the screen shows %q", want), func() bool { return strings.Contains(s.text(), want) })
	}
}

// drops waits until the screen shows a text no more.
func (s *terminalTest) drops(text string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("%q goes", text), func() bool { return !strings.Contains(s.text(), text) })
}

// keys sends bytes as one write, as a slow line delivers them.
func (s *terminalTest) keys(bytes string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(bytes); err != nil {
		s.t.Fatal(err)
	}
}

// dialog waits until a dialog is up and listens.
func (s *terminalTest) dialog(title string) {
	s.t.Helper()
	s.shows("┌ "+title, "[ Cancel ]")
	time.Sleep(quietFor + 50*time.Millisecond) // its own time to listen, which nothing tells of
}

func (s *terminalTest) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for the end and checks that the terminal is as it was.
func (s *terminalTest) ends(status int) {
	s.t.Helper()
	select {
	case <-s.exit:
	case <-time.After(time.Minute):
		s.t.Fatalf("it does not end; the screen is\n%s", s.text())
	}
	<-s.ended
	if got := s.process.ProcessState.ExitCode(); got != status {
		s.t.Errorf("exit status %d, want %d; the screen is\n%s", got, status, s.text())
	}
	if s.mode("alternate") || !s.mode("cursor") {
		s.t.Errorf("the terminal is left with the alternate screen %v, the cursor %v", s.mode("alternate"), s.mode("cursor"))
	}
}

func (s *terminalTest) resize(width, height int) {
	s.t.Helper()
	s.mutex.Lock()
	s.screen.Resize(width, height)
	s.mutex.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		s.t.Fatal(err)
	}
}
