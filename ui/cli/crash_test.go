package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"jobtop/store/sandbox/faultproxy"
)

// crash is a jobtop that is killed at a chosen moment of an act, and the database it
// leaves behind.
type crash struct {
	*fault
	program string
	process *exec.Cmd
	stdout  *bytes.Buffer
}

// start starts the built program, which will be killed.
func (c *crash) start(arguments ...string) {
	c.t.Helper()
	c.prepare(arguments...)
	c.begin()
}

func (c *crash) prepare(arguments ...string) {
	c.process, c.stdout, _ = c.command(arguments...)
	c.process.Path = c.program
}

func (c *crash) begin() {
	c.t.Helper()
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crash) kill() {
	c.t.Helper()
	if err := c.process.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	err := c.process.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Exited() {
		c.t.Fatalf("it ended before it was killed: %v", err)
	}
}

func (c *crash) reached(what string, s *faultproxy.Strike) {
	c.t.Helper()
	select {
	case <-s.Reached():
	case <-time.After(time.Minute):
		c.t.Fatalf("not in time: %s", what)
	}
}

// delivered lets what is held go on, and returns when it is over.
func (c *crash) delivered(s *faultproxy.Strike) {
	c.t.Helper()
	s.Release()
	select {
	case <-s.Over():
	case <-time.After(time.Minute):
		c.t.Fatal("it was not delivered in time")
	}
}

// again runs the program once more, with an act on another job, and returns what it
// tells of the earlier one.
func (c *crash) again() string {
	c.t.Helper()
	verb := "hold"
	if strings.HasPrefix(c.is("mail-2"), "review") {
		verb = "requeue"
	}
	command, out, errOut := c.command(verb, "mail-2", "--reason", "the next one")
	command.Path = c.program
	if err := command.Run(); err != nil {
		c.t.Fatalf("the next jobtop: %v\n%s%s", err, out, errOut)
	}
	contains(c.t, "the next report", out.String(), "applied  mail-2")
	var told []string
	for line := range strings.Lines(errOut.String()) {
		if strings.Contains(line, "an earlier jobtop") {
			told = append(told, line)
		}
	}
	return strings.Join(told, "")
}

// is what the program shows of a job: its state and version.
func (c *crash) is(id string) string {
	c.t.Helper()
	var job struct {
		State   string
		Version int
	}
	stdout, _ := c.run(0, "list", "id:"+id, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &job); err != nil {
		c.t.Fatalf("%v: %s", err, stdout)
	}
	return fmt.Sprintf("%s %d", job.State, job.Version)
}

// journaled counts the acts that the journal holds without an outcome.
func (c *crash) journaled() int {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.home(), "state", "jobtop", "journal", "*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	n := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			c.t.Fatal(err)
		}
		n += bytes.Count(text, []byte(`{"intent":`)) - bytes.Count(text, []byte(`{"outcome":`))
	}
	return n
}

// home is the last of that name in the environment, which is what counts.
func (c *crash) home() (home string) {
	for _, v := range c.env {
		if after, ok := strings.CutPrefix(v, "HOME="); ok {
			home = after
		}
	}
	return home
}

// blockStdout gives the program a pipe as its standard output that takes nothing more.
func (c *crash) blockStdout() {
	c.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	raw, err := w.SyscallConn()
	for full := error(nil); err == nil && !errors.Is(full, syscall.EAGAIN); {
		err = raw.Write(func(fd uintptr) bool {
			if _, full = syscall.Write(int(fd), make([]byte, 512)); errors.Is(full, syscall.EINTR) {
				full = nil
			}
			return true // done, and not to wait until there is room
		})
		if full != nil && !errors.Is(full, syscall.EAGAIN) {
			c.t.Fatal(full)
		}
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.process.Stdout = w
}

// writes waits until the program stands at a full pipe, where the system tells.
func (c *crash) writes() {
	c.t.Helper()
	tasks := fmt.Sprintf("/proc/%d/task/*/wchan", c.process.Process.Pid)
	deadline := time.Now().Add(time.Minute)
	for {
		files, _ := filepath.Glob(tasks)
		if len(files) == 0 {
			return // another system
		}
		for _, name := range files {
			if text, _ := os.ReadFile(name); bytes.Contains(text, []byte("pipe_write")) {
				return
			}
		}
		if time.Now().After(deadline) {
			c.t.Fatal("it never came to write")
		}
		time.Sleep(2 * time.Millisecond)
	}
}
