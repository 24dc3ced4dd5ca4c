package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Stop ends the server, by force after some seconds, and removes its directory. Calling it again does
// nothing.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	err := errors.Join(s.end(), s.remove())
	s.watchdog.dismiss()
	return err
}

// end ends the server, each time less gently.
func (s *Server) end() error {
	p := s.postgres
	if p == nil {
		return nil
	}
	p.signal(syscall.SIGINT) // fast: sessions are ended
	if !p.endsWithin(5 * time.Second) {
		p.signal(syscall.SIGQUIT) // immediate: the server itself kills after 5 s what does not end
		if !p.endsWithin(7 * time.Second) {
			return errors.Join(p.killTree(), s.reap())
		}
	}
	return s.reap()
}

// remove removes the directory, in which sessions on their way out may still make files.
func (s *Server) remove() error {
	if _, err := os.Stat(filepath.Join(s.dir, marker)); err != nil {
		if err := os.Remove(s.dir); !errors.Is(err, os.ErrNotExist) { // no further than being made
			return err
		}
		return nil
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		err := os.RemoveAll(s.dir)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Halt shuts the server down in an orderly way and keeps its data. Should ctx end first, the server
// still is on its way down.
func (s *Server) Halt(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mustRun(); err != nil {
		return err
	}
	s.postgres.signal(syscall.SIGINT)
	select {
	case <-s.postgres.done:
		return s.reap()
	case <-ctx.Done():
		return fmt.Errorf("halting PostgreSQL: %w", ctx.Err())
	}
}

// Crash kills the server and all its sessions at once, without a word to their clients, and keeps its
// data. What was committed is there again after Restart.
func (s *Server) Crash() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mustRun(); err != nil {
		return err
	}
	return errors.Join(s.postgres.killTree(), s.reap())
}

// Restart starts the server again, on the same port and with the same data, after Halt or Crash or when
// it ended by itself. It returns once the server accepts connections.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return errors.New("the server is stopped")
	case s.postgres != nil && !s.postgres.ended():
		return errors.New("the server runs")
	}
	if s.postgres != nil {
		if err := s.reap(); err != nil {
			return err
		}
	}
	return s.boot(ctx)
}

func (s *Server) mustRun() error {
	if s.postgres == nil || s.postgres.ended() {
		return errors.New("the server does not run")
	}
	return nil
}

// reap forgets the server process, which has ended.
func (s *Server) reap() error {
	if lock := readLockFile(s.data()); lock.pid == s.postgres.pid() {
		lock.freeMemory() // the lock file is there only when the server was killed
	}
	s.postgres = nil
	return s.watchdog.note(noteNone, 0)
}
