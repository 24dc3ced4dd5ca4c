// Package sandbox runs throwaway PostgreSQL servers: for the demo, the benchmark and the tests.
//
// A server lives in one directory of its own, listens on the loopback address and a private Unix socket
// only, and asks everybody for a random password. It ends with the process that started it, however that
// process ends: a watchdog then stops the server and removes the directory.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Superuser is the role that owns a sandbox's server.
const Superuser = "jobtop"

// Options say how to set a server up. The zero value gives a quick one of the newest version found.
type Options struct {
	// Programs are the server programs to run; when zero, those that Find finds.
	Programs Programs

	// Settings are lines of postgresql.conf, by name; values are quoted as needed. The port, the
	// addresses and the socket's directory cannot be set.
	Settings map[string]string

	// Durable makes commits survive a crash of the machine, at the price of real disk writes. A server
	// that is not durable still keeps every commit when it is only its own processes that are killed.
	Durable bool

	// Locale is the cluster's libc locale, which must be one for UTF-8; "" is C. The encoding is always UTF8.
	Locale string

	// Owner, when set, is another process for the server to live and end with.
	Owner Owner
}

// Owner is a process that a server may outlive its starter for.
type Owner struct {
	// PID is the process whose end, rather than the caller's, ends the server.
	PID int

	// File, unless "", is removed when the owner's end has ended the server. Its name begins with "jobtop-".
	File string
}

// Server is a throwaway PostgreSQL server. Its methods may be called concurrently.
type Server struct {
	programs Programs
	account  account
	dir      string
	port     int
	password string
	watchdog *watchdog

	mu       sync.Mutex // held while the server changes between running, halted and stopped
	postgres *process   // nil unless it was started and not yet seen to end
	stopped  bool
}

// Start sets up a server and returns once it accepts connections. On an error, which ends with the last
// lines of the server's log, nothing is left behind. ctx bounds the start only, not the server's life.
func Start(ctx context.Context, opts Options) (_ *Server, err error) {
	if opts.Programs.Dir == "" {
		if opts.Programs, err = Find(); err != nil {
			return nil, err
		}
	}
	s := &Server{programs: opts.Programs, password: rand.Text()}
	if s.account, err = serverAccount(); err != nil {
		return nil, err
	}
	if s.dir, err = chooseDir(s.account); err != nil {
		return nil, err
	}
	// The watchdog comes before anything that it would have to clear away.
	if s.watchdog, err = startWatchdog(s.dir, opts.Owner); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting PostgreSQL %s: %w", s.programs.Version, err), s.Stop())
		}
	}()
	if err := makeDir(s.dir, s.account); err != nil {
		return nil, err
	}
	if err := s.initialise(ctx, opts); err != nil {
		return nil, err
	}
	return s, s.bootOnFreePort(ctx)
}

// URL returns the connection string of a database, as the superuser, with its password.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(Superuser, s.password),
		Host:     "127.0.0.1:" + strconv.Itoa(s.port),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port returns the TCP port on 127.0.0.1. It stays the same over a Restart.
func (s *Server) Port() int { return s.port }

// Dir returns the server's directory: its data, its socket and its log.
func (s *Server) Dir() string { return s.dir }

// Socket returns the directory of the Unix socket, in the form that a connection string's host takes.
func (s *Server) Socket() string { return filepath.Join(s.dir, "run") }

// Version returns the version of the server programs.
func (s *Server) Version() Version { return s.programs.Version }

// PID returns the process ID of the running server, 0 when it does not run.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.postgres == nil || s.postgres.ended() {
		return 0
	}
	return s.postgres.pid()
}

// Log returns the last lines of the server's log, at most 20 of them; "" when there is none.
func (s *Server) Log() string {
	text, err := tail(s.logFile(), 4096)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// withLog adds the end of the log to an error.
func (s *Server) withLog(err error) error {
	if log := s.Log(); log != "" {
		return fmt.Errorf("%w\nend of the server's log:\n%s", err, log)
	}
	return err
}

func (s *Server) data() string    { return filepath.Join(s.dir, "data") }
func (s *Server) logFile() string { return filepath.Join(s.dir, "server.log") }

// tail reads at most the last size bytes of a file.
func tail(path string, size int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	from := max(0, info.Size()-size)
	text := make([]byte, info.Size()-from)
	n, err := f.ReadAt(text, from)
	if n < len(text) && err != nil {
		return "", err
	}
	return string(text), nil
}
