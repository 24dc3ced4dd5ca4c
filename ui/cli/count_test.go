package cli_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"jobtop/store/sandbox/faultproxy"
)

// A count of everything that is stopped says how far it came, and leaves no line of
// progress behind.
func TestCountInterrupted(t *testing.T) {
	f := newFault(t)
	strike := f.Next(faultproxy.Holding("OFFSET"), faultproxy.HoldRequest)
	command, _, shown := f.onTerminal(80, "status", "--exact")
	select {
	case <-strike.Reached():
	case <-time.After(time.Minute):
		t.Fatal("nothing was asked")
	}
	shown.await(t, "0 jobs counted, ")
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	<-shown.done
	if got := command.ProcessState.ExitCode(); got != 128+int(syscall.SIGINT) {
		t.Errorf("exit status %d", got)
	}
	_, last, _ := strings.Cut(shown.String(), "\r\x1b[Kjobtop: ")
	if !strings.HasPrefix(last, "the count was stopped after ") || !strings.HasSuffix(last, ": 0 jobs were counted\r\n") {
		t.Errorf("%q", shown)
	}
}

// At its limit it tells what it has. The limit has to leave this machine the time for the
// rest, so it grows until it does.
func TestCountAtItsLimit(t *testing.T) {
	f := newFault(t)
	for limit := time.Second; ; limit *= 2 {
		strike := f.Next(faultproxy.Holding("jobtop.receipts r\n                                         WHERE"), faultproxy.HoldRequest)
		stdout, stderr := f.run(1, "status", "--exact", "--exact-limit", limit.String())
		if strike.Withdraw() && limit < time.Minute {
			continue // it did not come so far
		}
		contains(t, "the table", stdout, "\npending     2     ", "\ndone        1     ", "\n12+ jobs, counted as far as the time went ")
		contains(t, "the error", stderr, "jobtop: the count was given up at its limit of "+limit.String()+": 12 jobs were counted; with a longer limit it comes further\n")
		return
	}
}
