package sandbox_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func thisProgram(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKilledStarterLeavesNothing kills the process that starts a server, at several moments.
func TestKilledStarterLeavesNothing(t *testing.T) {
	t.Parallel()
	exists := func(path string) bool { return !gone(path) }
	moments := []struct {
		name string
		come func(dir string) bool
	}{
		{"directory made", exists},
		{"initdb begins", func(dir string) bool { return exists(filepath.Join(dir, "data", "PG_VERSION")) }},
		{"initdb runs a server", func(dir string) bool { return sharedMemory(dir) != "" }},
		{"initdb goes on", func(dir string) bool { return exists(filepath.Join(dir, "data", "base", "1", "PG_VERSION")) }},
		{"server begins", func(dir string) bool { return exists(filepath.Join(dir, "data", "postmaster.opts")) }},
		{"server runs", nil},
	}
	for _, moment := range moments {
		t.Run(moment.name, func(t *testing.T) {
			t.Parallel()
			tmp := tempDir(t)
			s := launchStarter(t, exec.Command(thisProgram(t)), tmp)
			var dir string
			if moment.come == nil {
				dir = s.server(t).Dir
			} else {
				eventually(t, time.Minute, moment.name, func() bool {
					dirs, _ := filepath.Glob(filepath.Join(tmp, "jobtop-*"))
					if len(dirs) == 1 {
						dir = dirs[0]
					}
					return dir != "" && moment.come(dir)
				})
			}
			memory := sharedMemory(dir)
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_ = s.cmd.Wait()
			nothingLeft(t, tmp)
			t.Logf("cleared away after %s", time.Since(began).Round(time.Millisecond))
			if memory != "" && hasSharedMemory(t, memory) {
				t.Errorf("shared memory %s is left", memory)
			}
		})
	}
}

// TestKilledStarterWithBusySessions has a session that does not notice by itself that it should end.
func TestKilledStarterWithBusySessions(t *testing.T) {
	t.Parallel()
	tmp := tempDir(t)
	s := launchStarter(t, exec.Command(thisProgram(t)), tmp)
	url := s.server(t).URL
	busy, watch := connect(t, url), connect(t, url)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = busy.Exec(context.Background(), "select count(*) from generate_series(1, 10000000000)")
	}()
	eventually(t, time.Minute, "the session is busy", func() bool {
		const sql = "select exists (select from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and backend_type = 'client backend')"
		return query[bool](t, watch, sql)
	})
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	nothingLeft(t, tmp)
	<-ended
}

// TestOwner has a server outlive its starter until another process ends.
func TestOwner(t *testing.T) {
	t.Parallel()
	owner := exec.Command("cat")
	stdin, err := owner.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Process.Kill() })

	tmp := tempDir(t)
	file := filepath.Join(tmp, "jobtop-test.lock")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(thisProgram(t), strconv.Itoa(owner.Process.Pid), file)
	s := launchStarter(t, cmd, tmp)
	told := s.server(t)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()

	// Were it not for the owner, the server would be gone within some 100 ms.
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		conn, err := pgx.Connect(t.Context(), told.URL)
		if err != nil {
			t.Fatalf("the server ended with its starter: %v", err)
		}
		_ = conn.Close(t.Context())
	}
	_ = stdin.Close()
	_ = owner.Wait()
	nothingLeft(t, tmp)
}

// TestOrdinaryUser has root's tests start a server as root would not; elsewhere all tests do.
func TestOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; all other tests already run as an ordinary one")
	}
	const nobody = 65534
	tmp := tempDir(t)
	program := filepath.Join(tempDir(t), "starter") // where that user can reach it
	copyProgram(t, thisProgram(t), program)
	cmd := exec.Command(program)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	s := launchStarter(t, cmd, tmp)
	told := s.server(t)
	query[int](t, connect(t, told.URL), "select 1")
	info, err := os.Stat(filepath.Join(told.Dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid != nobody {
		t.Errorf("the server runs as user %d, want %d", uid, nobody)
	}
	_ = s.stdin.Close()
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.stderr)
	}
	nothingLeft(t, tmp)
}

// copyProgram copies a program. No child may be forked while it is open for writing: it
// would keep it open, and the program could not be started ("text file busy").
func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnreachableTemporaryDirectory: root's own directory is no place for a server that runs as another user.
func TestUnreachableTemporaryDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root's servers run as another user")
	}
	tmp := tempDir(t)
	if err := os.Chmod(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	s := launchStarter(t, exec.Command(thisProgram(t)), tmp)
	told := s.server(t)
	if filepath.Dir(told.Dir) != "/tmp" {
		t.Errorf("the server is in %s, want it in /tmp", told.Dir)
	}
	_ = s.stdin.Close()
	if err := s.cmd.Wait(); err != nil || !gone(told.Dir) {
		t.Errorf("%v\n%s", err, s.stderr)
	}
}
