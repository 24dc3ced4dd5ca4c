package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jobtop/store/sandbox"
)

func TestDataOutlivesACrashAndAHalt(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	conn := connect(t, s.URL("postgres"))
	execute(t, conn, "create table kept (word text)")

	stops := map[string]func() error{"crash": s.Crash, "halt": func() error { return s.Halt(t.Context()) }}
	for word, stop := range stops {
		url, pid := s.URL("postgres"), s.PID()
		conn := connect(t, url)
		execute(t, conn, "insert into kept values ('"+word+"')")
		if err := s.Restart(t.Context()); err == nil {
			t.Fatal("a running server restarted")
		}
		memory := sharedMemory(s.Dir())
		if !hasSharedMemory(t, memory) {
			t.Errorf("no shared memory %q", memory)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if left := processesOf(t, s.Dir()); len(left) != 1 || !strings.Contains(left[0], "jobtop-watchdog") {
			t.Errorf("after the %s, want the watchdog only: %q", word, left)
		}
		if hasSharedMemory(t, memory) {
			t.Errorf("the %s left the shared memory %s", word, memory)
		}
		if s.PID() != 0 || stop() == nil {
			t.Errorf("after the %s the server counts as running", word)
		}
		if err := s.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s.URL("postgres") != url || s.PID() == pid {
			t.Errorf("restarted as %s, process %d; was %s, %d", s.URL("postgres"), s.PID(), url, pid)
		}
		if n := query[int](t, connect(t, url), "select count(*) from kept where word = $1", word); n != 1 {
			t.Errorf("%d rows after the %s", n, word)
		}
	}
}

// sharedMemory returns the ID of the shared memory segment of the server in the directory, "" when it
// has none yet.
func sharedMemory(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 7 {
		return ""
	}
	_, id, _ := strings.Cut(strings.TrimSpace(lines[6]), " ")
	return strings.TrimSpace(id)
}

func hasSharedMemory(t *testing.T, id string) bool {
	t.Helper()
	out, err := exec.Command("ipcs", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == id {
			return true
		}
	}
	return false
}

func TestCrashCutsSessions(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	conn := connect(t, s.URL("postgres"))
	execute(t, conn, "create table kept (word text)")
	execute(t, conn, "begin")
	execute(t, conn, "insert into kept values ('uncommitted')")
	ended := make(chan error, 1)
	busy := connect(t, s.URL("postgres"))
	go func() {
		_, err := busy.Exec(context.Background(), "select pg_sleep(600)")
		ended <- err
	}()
	watch := connect(t, s.URL("postgres"))
	eventually(t, time.Minute, "the session sleeps", func() bool {
		return query[bool](t, watch, "select exists (select from pg_stat_activity where wait_event = 'PgSleep')")
	})

	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || strings.Contains(err.Error(), "FATAL") {
			t.Errorf("got %v, want a cut without a word from the server", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the session goes on")
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := query[int](t, connect(t, s.URL("postgres")), "select count(*) from kept"); n != 0 {
		t.Errorf("%d rows that were not committed", n)
	}
}

func TestStopAfterCrash(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	if err := s.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil || !gone(s.Dir()) {
		t.Errorf("stop: %v; directory gone: %t", err, gone(s.Dir()))
	}
}

func TestStopOfAServerThatDoesNotListen(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes 12 s, the time that Stop gives a server")
	}
	s := start(t, sandbox.Options{})
	pid := s.PID()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if left := processesOf(t, s.Dir()); !gone(s.Dir()) || len(left) > 0 {
		t.Errorf("directory gone: %t; processes left: %q", gone(s.Dir()), left)
	}
}

func TestRestartAfterItEndedByItself(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	if err := syscall.Kill(s.PID(), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the server ends", func() bool { return s.PID() == 0 })
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	query[int](t, connect(t, s.URL("postgres")), "select 1")
}
