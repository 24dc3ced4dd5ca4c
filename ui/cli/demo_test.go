package cli_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"jobtop/store/sandbox/sandboxtest"
)

// TestDemo runs jobtop demo as a person has it: the built program.
func TestDemo(t *testing.T) {
	program := filepath.Join(t.TempDir(), "jobtop")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "jobtop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	t.Run("for a time", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, program, "--headless", "--seed", "7", "--workers", "2", "--for", "15s") // which a slow machine needs for a look at it
		dsn := d.line(t)
		u, err := url.Parse(dsn)
		if err != nil || u.Scheme != "postgres" || u.Hostname() != "127.0.0.1" || u.Port() == "" || u.User.Username() != "operator" {
			t.Errorf("the first line is %q, which is no URL with a loopback host and port", dsn)
		}
		var jobs int
		if err := sandboxtest.Pool(t, dsn).QueryRow(t.Context(), "select count(*) from jobtop.jobs").Scan(&jobs); err != nil || jobs < 1000 {
			t.Errorf("%d jobs, %v", jobs, err)
		}
		if err := d.cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, d.stderr)
		}
		if rest, _ := io.ReadAll(d.stdout); len(rest) > 0 {
			t.Errorf("standard output goes on with %q", rest)
		}
		d.nothingLeft(t, time.Now())
	})

	// From review to done with a receipt that was looked up, in another jobtop.
	t.Run("lookup", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, program, "--headless", "--seed", "7", "--workers", "1")
		dsn := d.line(t)
		config := d.config(t)
		run := func(arguments ...string) (string, error) {
			cmd := exec.CommandContext(t.Context(), program, arguments...)
			cmd.Env = d.cmd.Env
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		if out, err := run("--config", config, "lookup", "charge-10442", "-o", "json"); err != nil || !strings.Contains(out, `"receipt_id": "ch_8121"`) {
			t.Errorf("%v\n%s", err, out)
		}
		if out, err := run("--config", config, "lookup", "charge-10443", "-o", "json"); err != nil || !strings.Contains(out, `"receipt_id": null`) {
			t.Errorf("%v\n%s", err, out)
		}
		// The examples of the help can be tried here.
		for _, verb := range []string{"requeue", "done", "dead", "hold"} {
			help, err := run(verb, "--help")
			if err != nil {
				t.Fatalf("%v\n%s", err, help)
			}
			examples := regexp.MustCompile(`(?m)^  jobtop (`+verb+` [a-z]+-\d+ .*")$`).FindAllStringSubmatch(help, -1)
			if len(examples) == 0 {
				t.Errorf("%s has no examples:\n%s", verb, help)
			}
			for _, example := range examples {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", program+" -d '"+dsn+"' "+example[1]+" --dry-run")
				cmd.Env = d.cmd.Env
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", example[1], err, out)
				}
			}
		}
		if out, err := run("-d", dsn, "done", "charge-10442", "--receipt", "ch_8121", "--reason", "the provider has it"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		if out, err := run("-d", dsn, "done", "charge-10442", "--receipt", "ch_8121", "--reason", "again"); exitStatus(err) != 3 {
			t.Errorf("again: %v\n%s", err, out)
		}
		d.stop(t, syscall.SIGINT)
	})

	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			d := startDemo(t, program, "--headless", "--workers", "2")
			d.line(t)
			d.stop(t, signal)
		})
	}

	// With the console on top, the progress line first, and the terminal as it was at last.
	for name, end := range map[string]func(d *runningDemo, terminal *os.File) (status int){
		"quit":             func(_ *runningDemo, terminal *os.File) int { _, _ = terminal.WriteString("q"); return 0 },
		"its time is over": func(*runningDemo, *os.File) int { return 0 },
		"console, SIGTERM": func(d *runningDemo, _ *os.File) int {
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			return 128 + int(syscall.SIGTERM)
		},
		"terminal hangs up": func(d *runningDemo, _ *os.File) int {
			_ = d.cmd.Process.Signal(syscall.SIGHUP)
			return 128 + int(syscall.SIGHUP)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments := []string{"--workers", "1"}
			if name == "its time is over" {
				arguments = append(arguments, "--for", "10s") // until when its console has to be seen
			}
			d := newDemo(t, "TERM=screen", program, arguments...)
			d.cmd.Stderr = nil
			terminal, err := pty.StartWithSize(d.cmd, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = terminal.Close() }()
			d.killAtEnd(t)
			var mu sync.Mutex
			var shown strings.Builder
			go func() {
				buffer := make([]byte, 4096)
				for {
					n, err := terminal.Read(buffer)
					mu.Lock()
					shown.Write(buffer[:n])
					mu.Unlock()
					if err != nil {
						return
					}
				}
			}()
			has := func(text string) func() bool {
				return func() bool {
					mu.Lock()
					defer mu.Unlock()
					return strings.Contains(shown.String(), text)
				}
			}
			waitFor(t, "a progress line", has("starting the demo"))
			waitFor(t, "the console", has("orders @ 127.0.0.1"))
			want := end(d, terminal)
			if got := exitStatus(d.cmd.Wait()); got != want {
				t.Errorf("exit status %d, want %d", got, want)
			}
			waitFor(t, "the screen as it was before", has("\x1b[?1049l"))
			waitFor(t, "the cursor as it was before", has("\x1b[?25h"))
			d.nothingLeft(t, time.Now())
		})
	}

	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, program, "--headless", "--workers", "2")
		d.line(t)
		if err := d.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_ = d.cmd.Wait()
		d.nothingLeft(t, began)
	})

	t.Run("stopped while it starts", func(t *testing.T) {
		t.Parallel()
		d := startDemo(t, program, "--headless")
		waitFor(t, "its directory is there", func() bool { return len(d.files(t)) > 0 })
		if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if err := d.cmd.Wait(); exitStatus(err) != 128+int(syscall.SIGTERM) {
			t.Errorf("%v\n%s", err, d.stderr)
		}
		d.nothingLeft(t, time.Now())
	})

	for name, c := range map[string]struct {
		arguments []string
		env       string
		status    int
		says      string
	}{
		"no terminal":      {nil, "", 2, "--headless"},
		"no worker":        {[]string{"--headless", "--workers", "0"}, "", 2, "--workers must be"},
		"no rate":          {[]string{"--headless", "--rate", "0"}, "", 2, "--rate must be"},
		"no time":          {[]string{"--headless", "--for", "0s"}, "", 2, "--for must be"},
		"another database": {[]string{"--headless", "-d", "orders"}, "", 2, "of its own"},
		"no server":        {[]string{"--headless"}, "JOBTOP_PG_BIN=/does/not/exist", 1, "\n  Debian, Ubuntu    apt install postgresql\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDemoWith(t, c.env, program, c.arguments...)
			if err := d.cmd.Wait(); exitStatus(err) != c.status || !strings.Contains(d.stderr.String(), c.says) {
				t.Errorf("%v\n%s", err, d.stderr)
			}
			d.nothingLeft(t, time.Now())
		})
	}
}

// runningDemo is a process with a directory for temporary files of its own.
type runningDemo struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *bytes.Buffer
	tmp    string
}

func startDemo(t *testing.T, program string, arguments ...string) *runningDemo {
	t.Helper()
	return startDemoWith(t, "", program, arguments...)
}

// startDemoWith starts jobtop demo with one more environment variable.
func startDemoWith(t *testing.T, variable, program string, arguments ...string) *runningDemo {
	t.Helper()
	d := newDemo(t, variable, program, arguments...)
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stdout = bufio.NewReader(stdout)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.killAtEnd(t)
	return d
}

// newDemo readies one to start.
func newDemo(t *testing.T, variable, program string, arguments ...string) *runningDemo {
	t.Helper()
	tmp, err := os.MkdirTemp("/tmp", "demo-test-") // where the server's user may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	if err := os.Chmod(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	own := filepath.Join(home, "jobtop.program") // a name by which its processes are told from other demos'
	if err := os.Link(program, own); err != nil {
		t.Fatal(err)
	}
	d := &runningDemo{cmd: exec.CommandContext(t.Context(), own, append([]string{"demo"}, arguments...)...), stderr: new(bytes.Buffer), tmp: tmp}
	d.cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "DATABASE_URL=", variable)
	d.cmd.Stderr = d.stderr
	return d
}

func (d *runningDemo) killAtEnd(t *testing.T) {
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	})
}

// line is the first line that it prints.
func (d *runningDemo) line(t *testing.T) string {
	t.Helper()
	line, err := d.stdout.ReadString('\n')
	if err != nil {
		_ = d.cmd.Wait()
		t.Fatalf("%v\n%s", err, d.stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

func (d *runningDemo) stop(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := d.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("after %s: %v\n%s", signal, err, d.stderr)
	}
	if files := d.files(t); len(files) > 0 {
		t.Errorf("after %s it ended and left %v", signal, files)
	}
	d.nothingLeft(t, time.Now())
}

func (d *runningDemo) files(t *testing.T) []os.DirEntry {
	t.Helper()
	files, err := os.ReadDir(d.tmp)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// nothingLeft waits until no file and no process is left.
func (d *runningDemo) nothingLeft(t *testing.T, since time.Time) {
	t.Helper()
	waitFor(t, "nothing is left", func() bool {
		out, err := exec.CommandContext(t.Context(), "ps", "-A", "-ww", "-o", "args=").Output()
		if err != nil {
			t.Fatal(err)
		}
		return len(d.files(t)) == 0 && !strings.Contains(string(out), d.tmp) && !strings.Contains(string(out), d.cmd.Path)
	})
	t.Logf("cleared away within %s", time.Since(since).Round(time.Millisecond))
}

// config is the configuration file that it writes for other jobtops.
func (d *runningDemo) config(t *testing.T) string {
	t.Helper()
	var file string
	waitFor(t, "there is a configuration", func() bool {
		files, _ := filepath.Glob(filepath.Join(d.tmp, "jobtop-*", "jobtop.toml"))
		if len(files) == 1 {
			file = files[0]
		}
		return file != ""
	})
	return file
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// exitStatus is 0 without an error, and -1 where there is none.
func exitStatus(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
