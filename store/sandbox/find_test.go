package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fakePrograms makes a directory with programs that say they are of a version.
func fakePrograms(t *testing.T, dir, version string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// No child may be forked while a program is open for writing: it could not be started ("text file busy").
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for _, program := range []string{"postgres", "initdb"} {
		script := "#!/bin/sh\necho '" + program + " " + version + "'\n"
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestFindTakesTheNewestSupported(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	places := []string{filepath.Join(root, "lib", "*", "bin")}
	fakePrograms(t, filepath.Join(root, "lib", "13", "bin"), "(PostgreSQL) 13.21")
	fakePrograms(t, filepath.Join(root, "lib", "9", "bin"), "(PostgreSQL) 9.6.24")
	fakePrograms(t, filepath.Join(root, "lib", "16", "bin"), "(PostgreSQL) 16.9 (Debian 16.9-1)")
	onPath := fakePrograms(t, filepath.Join(root, "path"), "(PostgreSQL) 16.10")
	vars := map[string]string{"PATH": onPath}

	steps := []struct{ dir, version, want string }{
		{"99", "(PostgreSQL) 99.1", onPath}, // not supported
		{"broken", "who knows", onPath},
		{"17", "(PostgreSQL) 17beta1", "17"},
		{"17.2", "(EnterpriseDB) 17.2", "17.2"},
		{"18", "(PostgreSQL) 18.0", "18"},
	}
	for _, step := range steps {
		fakePrograms(t, filepath.Join(root, "lib", step.dir, "bin"), step.version)
		want := step.want
		if want != onPath {
			want = filepath.Join(root, "lib", want, "bin")
		}
		got, err := find(env(vars), places, nil)
		if err != nil || got.Dir != want {
			t.Errorf("with %s: got %+v, %v; want %s", step.version, got, err, want)
		}
	}
}

func TestFindFollowsLinksOnPath(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	real := fakePrograms(t, filepath.Join(root, "cellar"), "(PostgreSQL) 17.5")
	bin := filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(real, "postgres"), filepath.Join(bin, "postgres")); err != nil {
		t.Fatal(err)
	}
	got, err := find(env(map[string]string{"PATH": "/nowhere:" + bin}), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.EvalSymlinks(real); got.Dir != want || got.Version != (Version{17, 5}) {
		t.Errorf("got %+v, want 17.5 in %s", got, want)
	}
}

func TestFindLooksOnlyWhereItIsTold(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	chosen := fakePrograms(t, filepath.Join(root, "chosen"), "(PostgreSQL) 14.3")
	other := fakePrograms(t, filepath.Join(root, "other"), "(PostgreSQL) 18.1")
	got, err := find(env(map[string]string{"JOBTOP_PG_BIN": chosen, "PATH": other}), []string{other}, nil)
	if err != nil || got.Dir != chosen {
		t.Errorf("got %+v, %v; want %s", got, err, chosen)
	}
	got, err = find(env(map[string]string{"JOBTOP_PG_BIN": root, "PATH": other}), []string{other}, nil)
	if !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), "only "+root+" was looked at") {
		t.Errorf("got %+v, %v; want ErrNoPrograms that names %s", got, err, root)
	}
}

func TestFindSaysWhatToDo(t *testing.T) {
	t.Parallel()
	_, err := find(env(nil), nil, nil)
	if !errors.Is(err, ErrNoPrograms) {
		t.Fatalf("got %v, want ErrNoPrograms", err)
	}
	for _, want := range []string{"apt install postgresql", "dnf install postgresql-server", "brew install postgresql@", "JOBTOP_PG_BIN", "jobtop -d DSN", "jobtop demo --fetch"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}

	old := fakePrograms(t, filepath.Join(t.TempDir(), "old"), "(PostgreSQL) 13.21")
	_, err = find(env(map[string]string{"PATH": old}), nil, nil)
	if !errors.Is(err, ErrNoPrograms) || !strings.Contains(err.Error(), old+": version 13.21") {
		t.Errorf("got %v, want ErrNoPrograms that tells of 13.21", err)
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines > 24 {
		t.Errorf("the message takes %d lines, more than a screen", lines)
	}
}

func TestFindTakesFetchedOnesAtLast(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	cached := filepath.Join(root, "cache", FetchedName("18.3.0"), "bin")
	lastResort := []string{filepath.Join(root, "cache", FetchedName("*"), "bin")}
	fakePrograms(t, cached, "(PostgreSQL) 18.3")
	got, err := find(env(nil), nil, lastResort)
	if err != nil || got.Dir != cached {
		t.Errorf("with nothing else: %+v, %v; want %s", got, err, cached)
	}
	installed := fakePrograms(t, filepath.Join(root, "installed"), "(PostgreSQL) 15.4")
	got, err = find(env(map[string]string{"PATH": installed}), nil, lastResort)
	if err != nil || got.Dir != installed {
		t.Errorf("with an older one installed: %+v, %v; want %s", got, err, installed)
	}
	got, err = find(env(map[string]string{"JOBTOP_PG_BIN": root}), nil, lastResort)
	if !errors.Is(err, ErrNoPrograms) || strings.Contains(err.Error(), "--fetch") {
		t.Errorf("with another place chosen: %+v, %v; want ErrNoPrograms, and no offer that would not help", got, err)
	}
}
