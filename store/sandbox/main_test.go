package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"jobtop/store/sandbox"
)

// starterEnv makes the test binary start a server, tell of it and wait, instead of running tests.
const starterEnv = "JOBTOP_TEST_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starterEnv) == "" {
		os.Exit(m.Run())
	}
	var opts sandbox.Options
	if len(os.Args) > 2 {
		opts.Owner.PID, _ = strconv.Atoi(os.Args[1])
		opts.Owner.File = os.Args[2]
	}
	s, err := sandbox.Start(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(started{PID: s.PID(), Dir: s.Dir(), URL: s.URL("postgres")})
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test is done with it, or gone
	if err := s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// started is what a starter tells of its server.
type started struct {
	PID      int
	Dir, URL string
}

// starter is another process that starts a server.
type starter struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout *bufio.Reader
	stderr *strings.Builder
}

// launchStarter runs a program as a starter, with tmp as its directory for temporary files.
func launchStarter(t *testing.T, cmd *exec.Cmd, tmp string) *starter {
	t.Helper()
	cmd.Env = append(os.Environ(), starterEnv+"=1", "TMPDIR="+tmp)
	s := &starter{cmd: cmd, stderr: new(strings.Builder)}
	cmd.Stderr = s.stderr
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin, s.stdout = stdin, bufio.NewReader(stdout)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return s
}

// server waits until the server runs.
func (s *starter) server(t *testing.T) started {
	t.Helper()
	var told started
	line, err := s.stdout.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &told)
	}
	if err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("starter: %v\n%s", err, s.stderr)
	}
	return told
}

// tempDir makes a directory that every user may enter and whose path leaves room for a socket's.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "sandbox-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventually polls until the condition holds.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// processesOf lists the command lines of the processes that name the directory.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return found
}

// nothingLeft checks that a directory for temporary files becomes empty, and that no process uses it.
func nothingLeft(t *testing.T, tmp string) {
	t.Helper()
	var files []os.DirEntry
	var processes []string
	defer func() {
		if t.Failed() {
			t.Logf("files: %v\nprocesses: %q", files, processes)
		}
	}()
	eventually(t, time.Minute, "nothing is left", func() bool {
		var err error
		if files, err = os.ReadDir(tmp); err != nil {
			t.Fatal(err)
		}
		processes = processesOf(t, tmp)
		return len(files) == 0 && len(processes) == 0
	})
}
