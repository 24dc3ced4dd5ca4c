package demo

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startedDemo is another process that runs a demo, in a directory for temporary files of
// its own.
type startedDemo struct {
	started
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	tmp    string
}

func startDemo(t *testing.T) *startedDemo {
	t.Helper()
	tmp := tempDir(t)
	s := &startedDemo{cmd: exec.Command(os.Args[0], starterWord), stderr: new(bytes.Buffer), tmp: tmp}
	s.cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	s.cmd.Stderr = s.stderr
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	if err := json.NewDecoder(stdout).Decode(&s.started); err != nil {
		t.Fatalf("the demo does not start: %v\n%s", err, s.stderr)
	}
	return s
}

// tempDir makes a directory that the server's user may enter, whose path leaves room for
// a socket's.
func tempDir(t *testing.T) string {
	t.Helper()
	tmp, err := os.MkdirTemp("/tmp", "demo-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	return tmp
}

// workers lists the process IDs of its workers.
func (s *startedDemo) workers(t *testing.T) []int {
	t.Helper()
	var pids []int
	for _, p := range processes(t) {
		if p.parent == s.cmd.Process.Pid && strings.HasSuffix(p.command, " "+workerWord) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// nothingLeft waits until the files are gone, and every process of the demo.
func (s *startedDemo) nothingLeft(t *testing.T, workers []int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		files, err := os.ReadDir(s.tmp)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		for _, p := range processes(t) {
			ours := strings.Contains(p.command, s.tmp)
			for _, pid := range workers {
				ours = ours || p.pid == pid && strings.Contains(p.command, workerWord)
			}
			if ours {
				left = append(left, p.command)
			}
		}
		if len(files) == 0 && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("left are the files %v and the processes %q", files, left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

type process struct {
	pid, parent int
	command     string
}

func processes(t *testing.T) []process {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []process
	for line := range strings.Lines(string(out)) {
		var p process
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		p.pid, _ = strconv.Atoi(fields[0])
		p.parent, _ = strconv.Atoi(fields[1])
		p.command = strings.Join(fields[2:], " ")
		all = append(all, p)
	}
	return all
}

func TestSIGTERMLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startDemo(t)
	workers := s.workers(t)
	if len(workers) != testOptions.Workers {
		t.Fatalf("%d workers run, want %d", len(workers), testOptions.Workers)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, s.stderr)
	}
	// All of it is gone before the demo itself is.
	files, err := os.ReadDir(s.tmp)
	if err != nil || len(files) > 0 {
		t.Errorf("left: %v %v", files, err)
	}
	s.nothingLeft(t, workers)
}

// TestKilledDemoLeavesNothing kills the demo while one of its workers is frozen, which
// cannot notice anything by itself.
func TestKilledDemoLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startDemo(t)
	workers := s.workers(t)
	if len(workers) != testOptions.Workers {
		t.Fatalf("%d workers run, want %d", len(workers), testOptions.Workers)
	}
	if err := syscall.Kill(workers[0], syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = s.cmd.Wait()
	s.nothingLeft(t, workers)
	t.Logf("cleared away after %s", time.Since(began).Round(time.Millisecond))
}

// TestWorkerAlone: a worker that nobody tells what to do ends with an explanation.
func TestWorkerAlone(t *testing.T) {
	t.Parallel()
	for _, orders := range []string{"", "nonsense\n"} {
		if err := RunWorker(t.Context(), strings.NewReader(orders)); err == nil {
			t.Errorf("with the orders %q it works", orders)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Workers: 0, Rate: 1}, {Workers: MaxWorkers + 1, Rate: 1}, {Workers: 1}, {Workers: 1, Rate: -1}, {Workers: 1, Rate: MaxRate + 1}} {
		if d, err := Start(t.Context(), o); err == nil {
			t.Errorf("started with %+v", o)
			_ = d.Stop()
		}
	}
	for _, rate := range []float64{0.1, 2, 20, MaxRate} {
		if n := slots(Options{Rate: rate, Workers: 6}); n < 4 || n > 32 {
			t.Errorf("at %g jobs a second a worker runs %d", rate, n)
		}
	}
}

// TestFailedStartLeavesNothing: the worker program does not exist.
func TestFailedStartLeavesNothing(t *testing.T) {
	tmp := tempDir(t)
	t.Setenv("TMPDIR", tmp)
	o := testOptions
	o.Worker = []string{"/does/not/exist"}
	var stages []string
	o.Progress = func(stage string, took time.Duration) {
		if took == 0 {
			stages = append(stages, stage)
		}
	}
	d, err := Start(t.Context(), o)
	if err == nil {
		_ = d.Stop()
		t.Fatal("it started")
	}
	if len(stages) == 0 || stages[len(stages)-1] != "workers" || !strings.Contains(err.Error(), "worker") {
		t.Errorf("after %q: %v", stages, err)
	}
	if files, err := os.ReadDir(tmp); err != nil || len(files) > 0 {
		t.Errorf("left: %v %v", files, err)
	}
}
