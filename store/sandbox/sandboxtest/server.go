package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"jobtop/store/sandbox"
)

// startLimit bounds the start of a server on a busy machine.
const startLimit = 2 * time.Minute

// sharedURL returns the URL of the database "postgres" on the run's shared server.
var sharedURL = sync.OnceValues(func() (string, error) {
	if run, ok := currentRun(); ok {
		return run.joinServer()
	}
	return startServer(sandbox.Owner{})
})

// started keeps hold of the servers that nobody stops: were one garbage-collected, its watchdog's pipe
// would be closed, and the server ended.
var started []*sandbox.Server

// startServer starts a server to share. Nobody stops it: it ends with its owner or this process.
func startServer(owner sandbox.Owner) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	s, err := sandbox.Start(ctx, sandbox.Options{
		Owner: owner,
		Settings: map[string]string{
			"max_connections": "200", // many tests, in several processes
			"autovacuum":      "off", // it would hold on to databases that tests drop or copy
		},
	})
	if err != nil {
		return "", err
	}
	started = append(started, s)
	return s.URL("postgres"), nil
}

// testRun is a run of go test, whose test binaries share a server.
type testRun struct {
	pid   int    // the go command's
	start string // when it started, in some form fit for a file name: process IDs come again
}

// currentRun returns the run that this process belongs to. There is none when somebody else than the go
// command, such as a debugger, started it.
func currentRun() (testRun, bool) {
	pid := os.Getppid()
	name, start, err := processInfo(pid)
	return testRun{pid: pid, start: start}, err == nil && name == "go"
}

// joinServer returns the URL of the run's server. The first process to ask starts it.
func (r testRun) joinServer() (string, error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("jobtop-test-%d-%d-%s.lock", os.Geteuid(), r.pid, r.start))
	lock, err := lockFile(path)
	if err != nil {
		return "", fmt.Errorf("the lock of this test run's server: %w", err)
	}
	defer func() { _ = lock.Close() }() // and with it the lock
	known, err := io.ReadAll(lock)
	if err != nil {
		return "", err
	}
	if len(known) > 0 {
		return string(known), nil
	}
	url, err := startServer(sandbox.Owner{PID: r.pid, File: path})
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	_, err = lock.WriteString(url)
	return url, err
}

// lockFile opens the file at path, which it creates when needed, and waits until no other process has it.
func lockFile(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		opened, current, err := lockAndStat(f)
		switch {
		case err == nil && !os.SameFile(opened, current):
			_ = f.Close() // whoever had it has removed it meanwhile
			continue
		case errors.Is(err, os.ErrNotExist):
			_ = f.Close()
			continue
		case err == nil && !private(opened):
			err = fmt.Errorf("%s: other users may write it", path)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
}

// lockAndStat locks a file, then tells about it and about what has its name now.
func lockAndStat(f *os.File) (opened, current os.FileInfo, err error) {
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if opened, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	current, err = os.Lstat(f.Name())
	return opened, current, err
}

// private says whether a file is this user's and no other's: its name in a shared directory can be guessed.
func private(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0 && info.Mode().IsRegular()
}
