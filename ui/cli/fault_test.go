package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store/sandbox/faultproxy"
	"jobtop/store/sandbox/sandboxtest"
)

// fault is a seeded database behind a proxy, and what a jobtop needs to use it.
type fault struct {
	*faultproxy.Proxy
	t   *testing.T
	env []string
}

func newFault(t *testing.T) *fault {
	t.Helper()
	t.Parallel()
	dsn := sandboxtest.Database(t)
	if _, err := sandboxtest.Pool(t, dsn).Exec(t.Context(), seedSQL, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	proxy, through, err := faultproxy.New(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	home := t.TempDir()
	return &fault{Proxy: proxy, t: t, env: append(cleanEnvironment(), "DATABASE_URL="+through, "HOME="+home,
		"XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config", "JOBTOP_OPERATOR=alice", "PGSSLMODE=disable", "TERM=screen")}
}

// cleanEnvironment is ours without what leads to other databases and settings.
func cleanEnvironment() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PG") && !strings.HasPrefix(v, "JOBTOP_") && !strings.HasPrefix(v, "DATABASE_URL=") && !strings.HasPrefix(v, "NO_COLOR=") {
			env = append(env, v)
		}
	}
	return env
}

func (f *fault) command(arguments ...string) (command *exec.Cmd, stdout, stderr *bytes.Buffer) {
	command = exec.Command("jobtop", arguments...)
	command.Env = f.env
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	command.Stdout, command.Stderr = stdout, stderr
	return command, stdout, stderr
}

// reach starts a command and waits until its request is held.
func (f *fault) reach(strike *faultproxy.Strike, command *exec.Cmd) {
	f.t.Helper()
	if err := command.Start(); err != nil {
		f.t.Fatal(err)
	}
	select {
	case <-strike.Reached():
	case <-time.After(time.Minute):
		f.t.Fatal("nothing was sent")
	}
}

// leftOpen kills a command with its act under way, and returns what the next one says on
// standard error.
func (f *fault) leftOpen(strike *faultproxy.Strike, command *exec.Cmd) string {
	f.t.Helper()
	f.reach(strike, command)
	if err := command.Process.Kill(); err != nil {
		f.t.Fatal(err)
	}
	_ = command.Wait()
	strike.Cut()
	_, stderr := f.run(0, "dead", "mail-3", "--reason", "enough")
	return stderr
}

// run runs a jobtop to its end, which must have this status.
func (f *fault) run(status int, arguments ...string) (stdout, stderr string) {
	f.t.Helper()
	command, out, errOut := f.command(arguments...)
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		f.t.Fatal(err)
	}
	if got := command.ProcessState.ExitCode(); got != status {
		f.t.Fatalf("jobtop %v: exit status %d, want %d\n%s%s", arguments, got, status, out, errOut)
	}
	return out.String(), errOut.String()
}

var anAct, aSettle = faultproxy.Holding("jobtop.act("), faultproxy.Holding("jobtop.settle(")

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

// The answer is lost after the act was committed: it is found out, and reported once.
func TestAnswerLost(t *testing.T) {
	f := newFault(t)
	f.Next(anAct, faultproxy.ForwardThenCut)
	stdout, _ := f.run(0, "requeue", "mail-9", "--reason", "again", "-o", "json")
	var result struct {
		Outcome string `json:"outcome"`
		Settled bool   `json:"settled"`
		State   string `json:"state"`
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Outcome != "applied" || !result.Settled || result.State != "pending" {
		t.Errorf("%s%v", stdout, err)
	}
}

// The act is lost before the server sees it: it did not happen and never will, which is
// an error and no refusal.
func TestActLost(t *testing.T) {
	f := newFault(t)
	f.Next(anAct, faultproxy.DropBefore)
	stdout, _ := f.run(1, "requeue", "mail-9", "--reason", "again")
	contains(t, "the report", stdout, "did not happen  the answer was lost; mail-9 was not requeued")
	shown, _ := f.run(0, "show", "mail-9")
	contains(t, "the job", shown, "dead for", "did not happen")
}

// Nobody can tell what became of it: exit status 4, whatever became of the others. As the
// database does not answer, the rest is not tried. The next jobtop finds it out.
func TestOutcomeUnknown(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until jobtop gives up, for 30 s")
	}
	f := newFault(t)
	f.Next(anAct, faultproxy.ForwardThenCut)
	f.Standing(func(r faultproxy.Request) faultproxy.Fault {
		if aSettle(r) {
			return faultproxy.DropBefore
		}
		return faultproxy.Pass
	})
	stdout, _ := f.run(4, "requeue", "mail-9", "nobody", "mail-1", "--reason", "again")
	contains(t, "the report", stdout, "UNKNOWN  unknown: mail-9 may have been requeued (action ", "refused  there is no job nobody",
		"not sent  not sent: stopped before mail-1")
	f.Standing(nil)
	stdout, stderr := f.run(0, "dead", "mail-3", "--reason", "enough")
	contains(t, "the next report", stdout, "applied  mail-3")
	contains(t, "what was left open", stderr, "left open by an earlier jobtop, an act of alice: mail-9 was requeued")
	if _, stderr := f.run(0, "requeue", "mail-3", "--reason", "after all"); strings.Contains(stderr, "left open") {
		t.Errorf("told twice: %s", stderr)
	}
}

// A signal while the database is asked: the usual exit status, and one line.
func TestReadInterrupted(t *testing.T) {
	f := newFault(t)
	strike := f.Next(faultproxy.Holding("jobtop.jobs"), faultproxy.HoldRequest)
	command, stdout, stderr := f.command("list")
	f.reach(strike, command)
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if got := command.ProcessState.ExitCode(); got != 128+int(syscall.SIGTERM) {
		t.Errorf("exit status %d", got)
	}
	if stdout.String() != "" || stderr.String() != "jobtop: stopped by a signal: terminated\n" {
		t.Errorf("%q, %q", stdout, stderr)
	}
}

// A jobtop that is killed with its act under way: the next one tells what became of it.
func TestKilled(t *testing.T) {
	for name, c := range map[string]struct {
		fault faultproxy.Fault
		want  string
	}{
		"before the server saw it": {faultproxy.HoldRequest, "mail-9 was not requeued"},
		"after it was committed":   {faultproxy.HoldAnswer, "mail-9 was requeued"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFault(t)
			strike := f.Next(anAct, c.fault)
			command, _, _ := f.command("requeue", "mail-9", "--reason", "again")
			stderr := f.leftOpen(strike, command)
			contains(t, "what was left open", stderr, "left open by an earlier jobtop, an act of alice", c.want)
		})
	}
}

// What the next one tells of an act that was refused is told as of then.
func TestKilledWhenRefused(t *testing.T) {
	for name, c := range map[string]struct {
		arguments []string
		lock      bool
		want      string
	}{
		"busy":    {[]string{"requeue", "mail-9"}, true, "it was refused then: somebody else held mail-9; nothing was changed\n"},
		"no edge": {[]string{"hold", "charge-10442"}, false, "it was refused then: charge-10442 was not held for review; it is in review, version 3: that is where it would go\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFault(t)
			if c.lock {
				_, through, _ := strings.Cut(strings.Join(f.env, "\n"), "DATABASE_URL=")
				through, _, _ = strings.Cut(through, "\n")
				tx, err := sandboxtest.Pool(t, through).Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
				if _, err := tx.Exec(t.Context(), "SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", c.arguments[1]); err != nil {
					t.Fatal(err)
				}
			}
			strike := f.Next(anAct, faultproxy.HoldAnswer)
			command, _, _ := f.command(append(c.arguments, "--reason", "again")...)
			stderr := f.leftOpen(strike, command)
			contains(t, "what was left open", stderr, "left open by an earlier jobtop, an act of alice: "+c.want)
		})
	}
}

// A signal stops between two jobs: the one under way is brought to its end, the rest is
// not sent, and the exit status tells of the signal. Where nothing was left to send it
// does not.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		jobs   []string
		status int
		want   []string
		told   string
	}{
		"between two jobs": {[]string{"mail-1", "mail-2", "mail-3"}, 128 + int(syscall.SIGINT),
			[]string{"applied  mail-1 was marked dead", "not sent  not sent: stopped before mail-2", "not sent  not sent: stopped before mail-3"},
			"jobtop: stopped by a signal: interrupt\n"},
		"in the last one": {[]string{"mail-1"}, 0, []string{"applied  mail-1 was marked dead"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFault(t)
			strike := f.Next(anAct, faultproxy.HoldAnswer)
			log := filepath.Join(t.TempDir(), "log")
			command, stdout, stderr := f.command(append([]string{"dead", "--reason", "enough", "-o", "table", "--log-file", log}, c.jobs...)...)
			f.reach(strike, command)
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the signal has its effect", func() bool {
				text, _ := os.ReadFile(log)
				return bytes.Contains(text, []byte("msg=stopping"))
			})
			strike.Release()
			_ = command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.status {
				t.Errorf("exit status %d, want %d", got, c.status)
			}
			contains(t, "the report", stdout.String(), c.want...)
			if told := strings.Contains(stderr.String(), "stopped by a signal"); told != (c.told != "") || !strings.HasSuffix(stderr.String(), c.told) {
				t.Errorf("on standard error: %s", stderr)
			}
		})
	}
}

// A reader of the report that goes away, as head does, stops no acts.
func TestReaderOfReportGone(t *testing.T) {
	f := newFault(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	command, _, stderr := f.command("dead", "mail-1", "mail-2", "mail-3", "--reason", "enough")
	command.Stdout = w
	_ = command.Run()
	_ = w.Close()
	if got := command.ProcessState.ExitCode(); got != 1 {
		t.Errorf("exit status %d\n%s", got, stderr)
	}
	contains(t, "standard error", stderr.String(), "jobtop: the output could not be written: broken pipe; what was done is in jobtop actions\n")
	done, _ := f.run(0, "actions", "--by", "alice", "--outcome", "applied", "-o", "csv")
	contains(t, "the log", done, "mail-1", "mail-2", "mail-3")
}
