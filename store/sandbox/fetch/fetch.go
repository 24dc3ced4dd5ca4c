// Package fetch gets prebuilt server programs of PostgreSQL for a sandbox, where none are installed.
//
// They are those of github.com/zonkyio/embedded-postgres-binaries, which Maven Central serves and
// github.com/fergusstrange/embedded-postgres fetches, checks and unpacks.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"

	"jobtop/store/sandbox"
)

// Version is the version of PostgreSQL that is fetched.
const Version = string(embedded.V18)

// MavenCentral is the repository that serves the programs to everybody.
const MavenCentral = "https://repo1.maven.org/maven2"

// ErrDeclined means that Options.Confirm said no.
var ErrDeclined = errors.New("not fetched")

// Options say what to fetch from where.
type Options struct {
	// Repository is the URL of a Maven repository; when empty, MavenCentral.
	Repository string

	// Dir keeps the programs; when empty, sandbox.CacheDir.
	Dir string

	// Confirm, unless nil, is asked before anything is fetched, with the size of the archive in bytes, -1
	// when the repository does not tell it.
	Confirm func(size int64) bool

	// Progress, unless nil, is told how many bytes of the archive are there, and how many it has, -1 when
	// the repository does not tell. Once all are there they are checked and unpacked, for some seconds.
	Progress func(done, total int64)

	// Patience is how long the repository may send nothing; when 0, 30 s.
	Patience time.Duration
}

// One fetch at a time, because of what it does to the process.
var one sync.Mutex

// Fetch returns the programs in the cache, which it fetches unless they are there. On an error the cache
// is as it was. While it runs, the process's default HTTP transport and its directory for temporary files
// are others, since the library that it calls takes neither as an option: do nothing else meanwhile.
func Fetch(ctx context.Context, o Options) (_ sandbox.Programs, err error) {
	one.Lock()
	defer one.Unlock()
	if o.Dir == "" {
		if o.Dir, err = sandbox.CacheDir(); err != nil {
			return sandbox.Programs{}, err
		}
	}
	home := filepath.Join(o.Dir, sandbox.FetchedName(Version))
	if programs, err := sandbox.ProgramsIn(filepath.Join(home, "bin")); err == nil {
		return programs, nil
	}
	repository, err := repositoryURL(o.Repository)
	if err != nil {
		return sandbox.Programs{}, err
	}
	staging, err := makeStaging(o.Dir)
	if err != nil {
		return sandbox.Programs{}, err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(staging))
		_ = os.Remove(o.Dir) // unless there is something in it
	}()
	unpacked := filepath.Join(staging, "programs")
	if err := download(ctx, o, repository, staging, unpacked); err != nil {
		return sandbox.Programs{}, err
	}
	if err := readable(unpacked); err != nil {
		return sandbox.Programs{}, err
	}
	if _, err := sandbox.ProgramsIn(filepath.Join(unpacked, "bin")); err != nil {
		return sandbox.Programs{}, fmt.Errorf("the programs were fetched, and do not run here: %w", err)
	}
	// What is there did not run, or came from another fetch just now.
	if err := errors.Join(os.RemoveAll(home), os.Rename(unpacked, home)); err != nil {
		return sandbox.Programs{}, err
	}
	return sandbox.ProgramsIn(filepath.Join(home, "bin"))
}

// repositoryURL returns the URL without a slash at its end. It may hold no password, which errors would show.
func repositoryURL(text string) (string, error) {
	if text == "" {
		return MavenCentral, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the repository must be an http or https URL without a user, a password or a query")
	}
	return strings.TrimRight(text, "/"), nil
}

// makeStaging makes a directory in the cache for a fetch that is not complete yet, and removes those that
// killed processes left.
func makeStaging(cache string) (string, error) {
	const abandoned = time.Hour
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	if err := os.Chmod(cache, 0o755); err != nil { // whatever the umask is: the server may be another user's
		return "", err
	}
	left, _ := filepath.Glob(filepath.Join(cache, "fetch-*")) // fails for a malformed pattern only
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.RemoveAll(dir)
		}
	}
	return os.MkdirTemp(cache, "fetch-")
}

// download makes the library fetch the programs, check them and unpack them into a directory.
func download(ctx context.Context, o Options, repository, staging, unpacked string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := newTransport(ctx, stop, o)
	defer t.idle.Stop()

	defer func(usual http.RoundTripper) { http.DefaultTransport = usual }(http.DefaultTransport)
	http.DefaultTransport = t
	defer restore("TMPDIR")()
	if err := os.Setenv("TMPDIR", staging); err != nil { // for a log file that it never removes
		return err
	}

	// The library can only start a server, for which it fetches the programs first. Its server would refuse
	// to run for root, and outlive a kill, so it is stopped right before by a data directory that cannot be
	// cleared: Go refuses to remove a path that ends in a dot. It makes the runtime directory as soon as
	// the programs are unpacked, which therefore tells that they all are.
	begun := filepath.Join(staging, "runtime")
	err := embedded.NewDatabase(embedded.DefaultConfig().
		Version(embedded.PostgresVersion(Version)).
		BinaryRepositoryURL(repository).
		CachePath(filepath.Join(staging, "archive")).
		BinariesPath(unpacked).
		RuntimePath(begun).
		DataPath(begun + "/none/.").
		Port(0). // any: it only looks whether it is free
		Logger(nil)).Start()
	switch _, statErr := os.Stat(begun); {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case t.failure != nil:
		return t.failure // the library leaves out why
	case statErr != nil:
		return err
	}
	return nil
}

// restore returns what gives an environment variable the value it has now, or none.
func restore(name string) func() {
	value, set := os.LookupEnv(name)
	return func() {
		if set {
			_ = os.Setenv(name, value)
		} else {
			_ = os.Unsetenv(name)
		}
	}
}

// readable lets everybody read the programs, and nobody else change them, whatever the umask is.
func readable(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}
