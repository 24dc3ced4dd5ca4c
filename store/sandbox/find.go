package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The major versions of PostgreSQL that a sandbox can run.
const (
	OldestMajor = 14
	NewestMajor = 18
)

// ErrNoPrograms means that no server programs of a supported version were found. The message of the
// error that wraps it tells what was found instead, and what to install or set.
var ErrNoPrograms = errors.New("no PostgreSQL server programs found")

// Programs are the server programs of one PostgreSQL installation.
type Programs struct {
	Dir     string // holds initdb and postgres
	Version Version
}

func (p Programs) path(program string) string { return filepath.Join(p.Dir, program) }

// Version is a version of PostgreSQL, such as 17.5. A pre-release has minor version 0.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Compare orders versions from old to new, as cmp.Compare does.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor))
}

func (v Version) supported() bool { return v.Major >= OldestMajor && v.Major <= NewestMajor }

// usualPlaces are where packages put the server programs outside of PATH.
var usualPlaces = []string{
	"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                   // Red Hat, from postgresql.org
	"/opt/homebrew/opt/postgresql@*/bin",                 // Homebrew
	"/usr/local/opt/postgresql@*/bin",                    // Homebrew on Intel
	"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
}

// Find returns the newest server programs of a supported version. When the environment variable
// JOBTOP_PG_BIN names a directory, only that is looked at; otherwise PATH and the places that packages
// install to are, and where those have none, what was fetched into CacheDir. The error is an ErrNoPrograms.
func Find() (Programs, error) { return find(os.Getenv, usualPlaces, fetchedPlaces()) }

// find looks at the places of last resort only where there are no others.
func find(getenv func(string) string, places, lastResort []string) (Programs, error) {
	missing := &noProgramsError{chosen: getenv("JOBTOP_PG_BIN")}
	if missing.chosen != "" {
		return missing.newest([]string{missing.chosen})
	}
	if programs, err := missing.newest(searchDirs(getenv("PATH"), places)); err == nil {
		return programs, nil
	}
	return missing.newest(searchDirs("", lastResort))
}

// ProgramsIn returns the server programs in a directory, of whatever version they are.
func ProgramsIn(dir string) (Programs, error) {
	version, err := askVersion(dir)
	return Programs{Dir: dir, Version: version}, err
}

// newest returns the newest supported programs in some directories. Where there are none, it notes what
// there is instead and returns itself.
func (e *noProgramsError) newest(dirs []string) (Programs, error) {
	var best Programs
	for _, dir := range dirs {
		version, err := askVersion(dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			e.found = append(e.found, fmt.Sprintf("%s: %v", dir, err))
		case !version.supported():
			e.found = append(e.found, fmt.Sprintf("%s: version %s", dir, version))
		case version.Compare(best.Version) > 0:
			best = Programs{Dir: dir, Version: version}
		}
	}
	if best.Dir == "" {
		return Programs{}, e
	}
	return best, nil
}

// searchDirs lists each directory once that may hold server programs. What a link on PATH leads to
// counts, since the other programs may be there only.
func searchDirs(path string, places []string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(path) {
		if program, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres")); err == nil {
			dirs = append(dirs, filepath.Dir(program))
		}
	}
	for _, place := range places {
		matches, _ := filepath.Glob(place) // fails for a malformed pattern only
		dirs = append(dirs, matches...)
	}
	var unique []string
	for _, dir := range dirs {
		if dir, err := filepath.Abs(dir); err == nil && !slices.Contains(unique, dir) {
			unique = append(unique, dir)
		}
	}
	return unique
}

var versionPattern = regexp.MustCompile(`^postgres \([^)]*\) (\d+)(?:\.(\d+))?`)

// askVersion runs the postgres program in dir. The error is os.ErrNotExist when a program is missing.
func askVersion(dir string) (Version, error) {
	for _, program := range []string{"postgres", "initdb"} {
		if _, err := os.Stat(filepath.Join(dir, program)); err != nil {
			return Version{}, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Version{}, fmt.Errorf("postgres --version: %w", err)
	}
	m := versionPattern.FindStringSubmatch(string(out))
	if m == nil {
		return Version{}, fmt.Errorf("postgres --version says %.60q", out)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2]) // "" for a pre-release
	return Version{Major: major, Minor: minor}, nil
}

// noProgramsError is an ErrNoPrograms that says what to do about it.
type noProgramsError struct {
	chosen string   // the value of JOBTOP_PG_BIN
	found  []string // programs that cannot be used, with the reason
}

func (e *noProgramsError) Is(target error) bool { return target == ErrNoPrograms }

func (e *noProgramsError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: initdb and postgres of version %d to %d are needed", ErrNoPrograms, OldestMajor, NewestMajor)
	if e.chosen != "" {
		fmt.Fprintf(&b, "\n\nJOBTOP_PG_BIN is set, so only %s was looked at.", e.chosen)
	}
	if len(e.found) > 0 {
		fmt.Fprintf(&b, "\n\nFound, but not usable:\n  %s", strings.Join(e.found, "\n  "))
	}
	b.WriteString(`

Install them:
  Debian, Ubuntu    apt install postgresql
  Red Hat, Fedora   dnf install postgresql-server
  macOS             brew install postgresql@17
or say which directory has them:
  JOBTOP_PG_BIN=/path/to/bin
or use a database that runs already:
  jobtop -d DSN`)
	if e.chosen == "" {
		b.WriteString(`
or have them fetched into your cache:
  jobtop demo --fetch`)
	}
	return b.String()
}
