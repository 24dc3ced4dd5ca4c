package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// process is a server program that runs. It is reaped as soon as it ends.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
	err  error         // how it ended; valid once done is closed
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// signal sends a signal unless the process has ended.
func (p *process) signal(sig syscall.Signal) { _ = p.cmd.Process.Signal(sig) }

// endsWithin waits for the process to end.
func (p *process) endsWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// gate holds a program back until a line comes in, and for good if the pipe ends before that.
const gate = `read -r _ && exec "$@" </dev/null`

// launch runs a server program, as the server's user, with its output going to the log.
//
// The watchdog learns the process ID before the program may begin: at no moment can the death of this
// process leave behind a program that the watchdog does not know.
func (s *Server) launch(word, program string, args ...string) (*process, error) {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	defer func() { _ = write.Close() }()

	// No context: a server outlives the call that starts it, and endSetup ends the rest.
	args = append([]string{"-c", gate, "sh", s.programs.path(program)}, args...)
	cmd := exec.CommandContext(context.Background(), "/bin/sh", args...)
	cmd.Dir = s.dir
	cmd.Env = serverEnv()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read, log, log
	cmd.SysProcAttr = s.account.attributes()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	err = s.watchdog.note(word, p.pid())
	if err == nil {
		_, err = fmt.Fprintln(write)
	}
	if err != nil {
		_ = write.Close()
		<-p.done
		return nil, err
	}
	return p, nil
}

// serverEnv is this process's environment without what would change how server programs behave.
func serverEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"} // known messages, and no search for the system's time zone
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "PG") && !strings.HasPrefix(name, "LC_") && name != "LANG" && name != "LANGUAGE" && name != "TZ" {
			env = append(env, v)
		}
	}
	return env
}

// endSetup ends initdb and the server that it runs, which ends in an orderly way once nobody tells it
// what to do any more; if not, it is killed.
func (p *process) endSetup(data string) {
	p.signal(syscall.SIGKILL)
	<-p.done
	deadline := time.Now().Add(5 * time.Second)
	for syscall.Kill(-p.pid(), 0) == nil {
		if time.Now().After(deadline) {
			_ = syscall.Kill(-p.pid(), syscall.SIGKILL)
			readLockFile(data).freeMemory()
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// killTree kills the server and its sessions at once and without a word, as the OOM killer or a power
// cut would, and waits until all of them are gone.
func (p *process) killTree() error {
	if p.ended() {
		return nil
	}
	// Each session is its own process group. A stopped server starts no further ones.
	p.signal(syscall.SIGSTOP)
	sessions, err := children(p.pid())
	for _, pid := range sessions {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	p.signal(syscall.SIGKILL)
	<-p.done
	if err != nil {
		return err
	}
	deadline := time.Now().Add(5 * time.Second)
	for _, pid := range sessions {
		for alive(pid) {
			if time.Now().After(deadline) {
				return fmt.Errorf("process %d does not end after SIGKILL", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// runSetup runs a program to its end.
func (s *Server) runSetup(ctx context.Context, program string, args ...string) error {
	p, err := s.launch(noteSetup, program, args...)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		p.endSetup(s.data())
	}
	if err := s.watchdog.note(noteNone, 0); err != nil {
		return err
	}
	if p.err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", s.programs.path(program), errors.Join(ctx.Err(), p.err))
	if s.account.other() {
		err = fmt.Errorf("%w (run as the user %s)", err, s.account.name)
	}
	return s.withLog(err)
}
