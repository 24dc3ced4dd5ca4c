package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// marker is the file without which the watchdog removes no directory.
	marker = ".jobtop-sandbox"

	// maxSocketPath is the longest path of a Unix socket on macOS; Linux allows four bytes more.
	maxSocketPath = 103
)

// chooseDir returns the path of a new directory that a server of the account can use. It does not make it.
func chooseDir(a account) (string, error) {
	var reasons []error
	for _, base := range []string{os.TempDir(), "/tmp"} {
		base, err := filepath.Abs(base)
		if err == nil {
			err = a.canReach(base)
		}
		dir := filepath.Join(base, "jobtop-"+strings.ToLower(rand.Text()[:12]))
		if socket := filepath.Join(dir, "run", ".s.PGSQL.65535"); err == nil && len(socket) > maxSocketPath {
			err = fmt.Errorf("%s is too long a path for a Unix socket", socket)
		}
		if err == nil {
			return dir, nil
		}
		reasons = append(reasons, err)
	}
	return "", fmt.Errorf("no directory for a PostgreSQL server: %w", errors.Join(reasons...))
}

// makeDir makes the server's directory and what is needed in it before initdb runs.
func makeDir(dir string, a account) error {
	mode := os.FileMode(0o700)
	if a.other() {
		mode = 0o711 // the server's user passes through; only the subdirectories are its own
	}
	if err := os.Mkdir(dir, mode); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(dir, mode); err != nil { // whatever the umask is
		return err
	}
	for _, sub := range []string{"data", "run"} {
		path := filepath.Join(dir, sub)
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
		if err := a.own(path); err != nil {
			return err
		}
	}
	return nil
}

// canReach returns an error unless the account may enter the directory.
func (a account) canReach(dir string) error {
	if !a.other() {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		owner := ok && stat.Uid == a.uid
		if enter := info.Mode().Perm(); enter&0o001 == 0 && (!owner || enter&0o100 == 0) {
			return fmt.Errorf("the user %s cannot enter %s", a.name, at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}
