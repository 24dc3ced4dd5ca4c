package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// fleet runs the worker processes, and now and then makes one of them go wrong.
type fleet struct {
	ctx    context.Context // its end kills them all
	self   []string        // the program that is a worker, with its arguments
	config workerConfig
	log    *os.File // what workers say

	// launch starts processes, all from one thread: on Linux a worker is killed when the
	// thread that started it ends.
	launch chan func()

	mu      sync.Mutex
	stopped bool
	next    int // number of the next worker
	members []*member
	ended   sync.WaitGroup
}

// member is one worker process.
type member struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer // open for as long as this process lives
	frozen bool
}

func newFleet(ctx context.Context, self []string, config workerConfig, log *os.File) *fleet {
	f := &fleet{ctx: ctx, self: self, config: config, log: log, launch: make(chan func()), next: pastWorkers + 1}
	go func() {
		runtime.LockOSThread()
		for start := range f.launch {
			start()
		}
	}()
	return f
}

// add starts one more worker.
func (f *fleet) add() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil
	}
	config := f.config
	config.Name, config.Version = fmt.Sprintf("w-%d", f.next), versionOf(f.next)
	f.next++
	orders, err := json.Marshal(config)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(f.ctx, f.self[0], f.self[1:]...)
	cmd.Stdout, cmd.Stderr = f.log, f.log
	cmd.SysProcAttr = memberAttributes()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	f.launch <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return fmt.Errorf("a worker could not be started: %w", err)
	}
	m := &member{name: config.Name, cmd: cmd, stdin: stdin}
	f.members = append(f.members, m)
	f.ended.Go(func() {
		_ = cmd.Wait() // most are killed
		f.mu.Lock()
		defer f.mu.Unlock()
		f.members = slices.DeleteFunc(f.members, func(o *member) bool { return o == m })
	})
	if _, err := stdin.Write(append(orders, '\n')); err != nil {
		return fmt.Errorf("worker %s does not listen: %w", m.name, err)
	}
	return nil
}

// size is how many workers run.
func (f *fleet) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.members)
}

// kill kills a worker without a word, none of those spared, and returns its name; "" when
// there is none to kill.
func (f *fleet) kill(dice *rand.Rand, spared map[string]bool) string {
	return f.pick(dice, spared, func(m *member) { _ = m.cmd.Process.Kill() })
}

// freeze stops a worker as if its machine hung, until the returned function is called.
func (f *fleet) freeze(dice *rand.Rand, spared map[string]bool) (name string, thaw func()) {
	var frozen *member
	name = f.pick(dice, spared, func(m *member) {
		_ = m.cmd.Process.Signal(syscall.SIGSTOP)
		m.frozen, frozen = true, m
	})
	return name, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if frozen != nil {
			_ = frozen.cmd.Process.Signal(syscall.SIGCONT) // it may be gone
			frozen.frozen = false
		}
	}
}

// pick does something to one worker that is well; the last such one is spared, too.
func (f *fleet) pick(dice *rand.Rand, spared map[string]bool, do func(*member)) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	well := 0
	var open []*member
	for _, m := range f.members {
		if m.frozen {
			continue
		}
		well++
		if !spared[m.name] {
			open = append(open, m)
		}
	}
	if well < 2 || len(open) == 0 {
		return ""
	}
	m := open[dice.IntN(len(open))]
	do(m)
	return m.name
}

// stop kills all workers and waits until they are gone. Their jobs are of no use any more.
func (f *fleet) stop() error {
	f.mu.Lock()
	first := !f.stopped
	f.stopped = true
	for _, m := range f.members {
		_ = m.stdin.Close()
		_ = m.cmd.Process.Kill() // also one that is frozen; it may be gone
	}
	f.mu.Unlock()
	if !first {
		return nil
	}
	close(f.launch)
	gone := make(chan struct{})
	go func() { f.ended.Wait(); close(gone) }()
	select {
	case <-gone:
		return nil
	case <-time.After(5 * time.Second):
		return errors.New("a worker that was killed does not end")
	}
}
