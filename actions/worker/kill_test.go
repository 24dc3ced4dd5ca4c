package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"jobtop/actions/worker"
	"jobtop/store"
)

// What makes the test binary a worker that stops at a point and waits to be killed.
const (
	windowEnv   = "JOBTOP_TEST_WINDOW"
	victimDSN   = "JOBTOP_TEST_DSN"
	providerEnv = "JOBTOP_TEST_PROVIDER"
)

// The four windows that a crash can fall into.
const (
	claimToIntent  = "claim to intent"
	intentToEffect = "intent to effect"
	effectToCommit = "effect to commit"
	commitToReturn = "commit to return"
)

// victimTimeout is how soon the victim's jobs count as stuck.
const victimTimeout = 300 * time.Millisecond

// playVictim works until its window, says so, and goes no further.
func playVictim() {
	window := os.Getenv(windowEnv)
	dsn := os.Getenv(victimDSN)
	lost, throughProxy, err := newProxy(dsn, nil)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	reach := func(point string) {
		if point != window {
			return
		}
		fmt.Println(point)
		if point == commitToReturn {
			lost.mute.Store(true) // the commit gets through and its answer does not
			return
		}
		select {}
	}
	err = worker.Run(context.Background(), worker.Options{
		DSN: throughProxy, Name: "victim", HeartbeatTimeout: victimTimeout, HeartbeatEvery: 20 * time.Millisecond, Log: silent(),
		Handlers: map[string]worker.Handler{"charge": func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
			reach(claimToIntent)
			key, err := job.Begin(ctx)
			if err != nil {
				return worker.Receipt{}, err
			}
			reach(intentToEffect)
			receipt, err := charge(ctx, os.Getenv(providerEnv), key)
			if err != nil {
				return worker.Receipt{}, err
			}
			reach(effectToCommit)
			reach(commitToReturn)
			return worker.Receipt{ID: receipt}, nil
		}},
	})
	fmt.Println("ended:", err)
}

// killIn runs a worker process up to a window and kills it there with SIGKILL.
func killIn(t *testing.T, window string, r *record, p *provider, reached func()) {
	t.Helper()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), windowEnv+"="+window, victimDSN+"="+r.url, providerEnv+"="+p.URL)
	victim.Stderr = os.Stderr
	stdout, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		said <- strings.TrimSpace(line)
	}()
	defer func() {
		_ = victim.Process.Kill() // SIGKILL
		_ = victim.Wait()
	}()
	if line := arrives(t, "the worker reaches its window", said); line != window {
		t.Fatalf("the worker said %q, not %q", line, window)
	}
	reached()
}

// TestSeedsKilledInEachWindow kills a worker with -9 in each of the four windows, looks
// at what the record then says, and has an operator requeue the job: whatever the window,
// the effect happens once.
func TestSeedsKilledInEachWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []struct {
		name    string
		visible seen
		effects int    // at the provider, when the worker is dead
		refused string // a plain requeue's refusal
		calls   int    // at the provider, in the end
	}{
		{claimToIntent, seen{State: "running", Attempt: 1, Version: 2, Verdict: store.VerdictNeverStarted, LockedByToken: true}, 0, "", 1},
		{intentToEffect, seen{State: "running", Attempt: 1, Version: 2, Verdict: store.VerdictMayHaveHappened, Intent: true, LockedByToken: true}, 0, "uncertain", 1},
		{effectToCommit, seen{State: "running", Attempt: 1, Version: 2, Verdict: store.VerdictMayHaveHappened, Intent: true, LockedByToken: true}, 1, "uncertain", 2},
		{commitToReturn, seen{State: "done", Attempt: 1, Version: 3, Verdict: store.VerdictHappened, Intent: true, Outcome: "done", Receipt: "receipt of job"}, 1, "no_edge", 1},
	} {
		t.Run(strings.ReplaceAll(window.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			r, p := newRecord(t), newProvider(t)
			r.enqueue(store.NewJob{ID: "job"})
			killIn(t, window.name, r, p, func() {
				if window.name == commitToReturn {
					r.becomes("job", "done")
				}
			})

			if visible := r.job("job"); visible != window.visible {
				t.Fatalf("the record shows\n%+v, not\n%+v", visible, window.visible)
			}
			if _, effects := p.seen("job"); effects != window.effects {
				t.Fatalf("the provider did it %d times, not %d", effects, window.effects)
			}

			// The job waits for a person: no worker takes it up by itself.
			second := run(t, r.options(p.handler))
			if window.visible.State == "running" {
				eventually(t, "the job counts as stuck", func() bool {
					return r.count(`SELECT count(*) FROM jobtop.jobs j WHERE jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout,
						j.progress_at, j.claimed_at, j.progress_timeout, clock_timestamp()) IS NOT NULL`) == 1
				})
			}
			answer := r.act("job", "requeue")
			switch {
			case window.refused == "" && answer.Outcome != "applied":
				t.Fatalf("a requeue of what never started: %+v", answer)
			case window.refused != "" && (answer.Refusal == nil || *answer.Refusal != window.refused):
				t.Fatalf("a plain requeue was not refused as %s: %+v", window.refused, answer)
			}
			if window.refused == "uncertain" {
				if answer := r.act("job", "requeue", "may_have_happened"); answer.Outcome != "applied" {
					t.Fatalf("a confirmed requeue: %+v", answer)
				}
			}

			ended := r.becomes("job", "done")
			if err := second.stopped(); err != nil {
				t.Error(err)
			}
			attempts := 2
			if window.refused == "no_edge" {
				attempts = 1
			}
			if ended.Receipt != "receipt of job" || ended.Attempt != attempts || ended.Verdict != store.VerdictHappened {
				t.Errorf("in the end the record shows %+v", ended)
			}
			if calls, effects := p.seen("job"); calls != window.calls || effects != 1 {
				t.Errorf("%d calls and %d effects at the provider, not %d and 1", calls, effects, window.calls)
			}
			if fenced := r.count(`SELECT count(*) FROM jobtop.attempts WHERE outcome = 'fenced'`); fenced != attempts-1 {
				t.Errorf("%d fenced attempts, not %d", fenced, attempts-1)
			}
		})
	}
}
