package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// initialise makes the data directory and its configuration.
func (s *Server) initialise(ctx context.Context, opts Options) error {
	config, err := configuration(opts)
	if err != nil {
		return err
	}
	secret := filepath.Join(s.Socket(), "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	if err := s.account.own(secret); err != nil {
		return err
	}
	locale := opts.Locale
	if locale == "" {
		locale = "C"
	}
	err = s.runSetup(ctx, "initdb", "-D", s.data(), "-U", Superuser, "--pwfile", secret, "-A", "scram-sha-256",
		"-E", "UTF8", "--locale="+locale, "--lc-messages=C", "--no-sync", "--no-instructions")
	if err = errors.Join(err, os.Remove(secret)); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(config)
	return errors.Join(err, f.Close())
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// reserved are the settings that the server's command line gives.
var reserved = []string{"port", "listen_addresses", "unix_socket_directories"}

// configuration returns what to append to postgresql.conf.
func configuration(opts Options) (string, error) {
	settings := map[string]string{
		"cluster_name": "jobtop", // shown by ps
		// Segments in files leave nothing in /dev/shm after a crash, and need none there.
		"dynamic_shared_memory_type": "mmap",
		"unix_socket_permissions":    "0700",
	}
	if !opts.Durable {
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
	}
	for name, value := range opts.Settings {
		name = strings.ToLower(name)
		if !settingName.MatchString(name) || slices.Contains(reserved, name) || strings.ContainsAny(value, "\n\r\x00") {
			return "", fmt.Errorf("setting %q = %q is not allowed", name, value)
		}
		settings[name] = value
	}
	quote := strings.NewReplacer(`'`, `''`, `\`, `\\`)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s = '%s'\n", name, quote.Replace(settings[name]))
	}
	return b.String(), nil
}

// errPortTaken means that somebody took the port between the look and the server's start.
var errPortTaken = errors.New("the port is taken")

func (s *Server) bootOnFreePort(ctx context.Context) error {
	for try := 1; ; try++ {
		var err error
		if s.port, err = FreePort(ctx); err != nil {
			return err
		}
		if err = s.boot(ctx); !errors.Is(err, errPortTaken) || try == 5 {
			return err
		}
	}
}

// FreePort picks a free port of 127.0.0.1 below the ones that systems hand out for outgoing connections. From among
// those, a client that keeps trying to reach a halted server could be given the server's own port, and
// so connect to itself and keep the server from coming back.
func FreePort(ctx context.Context) (int, error) {
	var listen net.ListenConfig
	var err error
	for range 100 {
		port := 20000 + rand.IntN(12000)
		var l net.Listener
		if l, err = listen.Listen(ctx, "tcp4", "127.0.0.1:"+strconv.Itoa(port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}

// boot starts the server and waits until it accepts connections. On an error no server runs.
func (s *Server) boot(ctx context.Context) error {
	before, err := os.Stat(s.logFile())
	if err != nil {
		return err
	}
	p, err := s.launch(noteServer, "postgres", "-D", s.data(),
		"-c", "port="+strconv.Itoa(s.port), "-c", "listen_addresses=127.0.0.1",
		"-c", `unix_socket_directories="`+strings.ReplaceAll(s.Socket(), `"`, `""`)+`"`)
	if err != nil {
		return err
	}
	s.postgres = p
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !readLockFile(s.data()).ready(p.pid()) {
		select {
		case <-tick.C:
		case <-p.done:
			log, _ := tail(s.logFile(), 1<<16)
			err := fmt.Errorf("%s: %w", s.programs.path("postgres"), p.err)
			if after, statErr := os.Stat(s.logFile()); statErr == nil {
				log = log[max(0, len(log)-int(after.Size()-before.Size())):]
			}
			if strings.Contains(log, "Address already in use") {
				err = fmt.Errorf("%w: %w", errPortTaken, err)
			}
			return errors.Join(s.withLog(err), s.reap())
		case <-ctx.Done():
			return errors.Join(s.withLog(ctx.Err()), p.killTree(), s.reap())
		}
	}
	return nil
}
