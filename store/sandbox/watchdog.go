package sandbox

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

//go:embed watchdog.sh
var watchdogScript string

// watchdog is a shell that ends the server and removes its directory once this process is gone.
type watchdog struct {
	cmd  *exec.Cmd
	pipe *os.File // closed on exec, so that no other process holds it open
}

func startWatchdog(dir string, owner Owner) (*watchdog, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = read.Close() }()
	// No context: it ends when it is dismissed, or after this process.
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", watchdogScript, "jobtop-watchdog",
		dir, strconv.Itoa(owner.PID), owner.File)
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH") + ":/usr/bin:/bin"}
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = write.Close()
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	return &watchdog{cmd: cmd, pipe: write}, nil
}

// The words that the watchdog knows; see watchdog.sh.
const (
	noteSetup  = "setup"
	noteServer = "server"
	noteNone   = "none"
	noteQuit   = "quit"
)

// note tells the watchdog what it would have to end now.
func (w *watchdog) note(word string, pid int) error {
	if _, err := fmt.Fprintf(w.pipe, "%s %d\n", word, pid); err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	return nil
}

// dismiss ends the watchdog without its doing anything, and waits for it.
func (w *watchdog) dismiss() {
	_ = w.note(noteQuit, 0) // fails only when the watchdog is gone already
	_ = w.pipe.Close()
	_ = w.cmd.Wait()
}
