package cli

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"jobtop/store/sandbox"
)

// programsRepository serves a Maven repository on loopback whose server programs are scripts.
func programsRepository(t *testing.T) (url string, archive []byte) {
	t.Helper()
	programs, err := os.ReadFile(filepath.Join("..", "..", "store", "sandbox", "fetch", "testdata", "programs.txz"))
	if err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	f, err := w.CreateHeader(&zip.FileHeader{Name: "postgres.txz", Method: zip.Store})
	if err == nil {
		_, err = f.Write(programs)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			fmt.Fprintf(w, "%x", sha256.Sum256(jar.Bytes()))
			return
		}
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, jar.Bytes()
}

// where no server programs are: what find says there, unless some were fetched.
func nowhere(cache string) func() (sandbox.Programs, error) {
	return func() (sandbox.Programs, error) {
		if found, _ := filepath.Glob(filepath.Join(cache, "jobtop", "postgresql-*", "bin")); len(found) > 0 {
			return sandbox.ProgramsIn(found[0])
		}
		return sandbox.Programs{}, fmt.Errorf("%w: install them", sandbox.ErrNoPrograms)
	}
}

// emptyCache is a directory that every user can enter.
func emptyCache(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fetch-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("JOBTOP_PG_BIN", "")
	return dir
}

// isEmpty reports whether nothing was fetched.
func isEmpty(t *testing.T, dir string) bool {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(files) == 0
}

func TestDemoFetchesWithoutATerminalOnlyWhenTold(t *testing.T) {
	repository, archive := programsRepository(t)
	cache := emptyCache(t)
	t.Setenv(repositoryEnv, repository)
	run := func(unasked bool) (string, error) {
		var stderr bytes.Buffer
		a := &app{stdin: strings.NewReader("y\n"), stderr: &stderr}
		err := a.haveServer(t.Context(), unasked, nowhere(cache))
		return stderr.String(), err
	}
	if said, err := run(false); err == nil || !strings.Contains(said, "install them") || !isEmpty(t, cache) {
		t.Errorf("without a terminal: %v\n%s", err, said)
	}
	t.Setenv("JOBTOP_PG_BIN", "/does/not/exist")
	if said, err := run(true); err == nil || !strings.Contains(said, "install them") || !isEmpty(t, cache) {
		t.Errorf("with another place chosen, where it would not help: %v\n%s", err, said)
	}
	t.Setenv("JOBTOP_PG_BIN", "")
	t.Setenv(repositoryEnv, repository+"?no")
	if said, err := run(true); err == nil || !strings.Contains(said, "nothing of it was kept:\n  the repository must be") || !isEmpty(t, cache) {
		t.Errorf("from a wrong place: %v\n%s", err, said)
	}
	t.Setenv(repositoryEnv, repository)
	want := fmt.Sprintf("demo: no PostgreSQL server programs found; fetching PostgreSQL 18.3.0 from %s into %s/jobtop\n"+
		"demo: fetched PostgreSQL 18.3 (%d B); it stays in %[2]s/jobtop\n", repository, cache, len(archive))
	if said, err := run(true); err != nil || said != want {
		t.Errorf("told to: %v\n%s\nwant\n%s", err, said, want)
	}
	if said, err := run(false); err != nil || said != "" {
		t.Errorf("once there: %v\n%s", err, said)
	}
}

func TestDemoAsksBeforeItFetches(t *testing.T) {
	repository, archive := programsRepository(t)
	t.Setenv(repositoryEnv, repository)
	t.Setenv("TERM", "xterm")
	for _, c := range []struct {
		typed   string
		fetches bool
	}{{"y\n", true}, {"Yes\n", true}, {"\n", false}, {"n\n", false}, {"yours\n", false}, {"\x04", false}} {
		t.Run(fmt.Sprintf("%q", c.typed), func(t *testing.T) {
			cache := emptyCache(t)
			terminal, program, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = terminal.Close(), program.Close() }()
			a := &app{stdin: program, stderr: program}
			done := make(chan error, 1)
			go func() { done <- a.haveServer(t.Context(), false, nowhere(cache)) }()
			said := readTo(t, terminal, "[y/N] ")
			if want := fmt.Sprintf("Fetch PostgreSQL 18.3.0 from %s into %s/jobtop (%d B)? [y/N] ", repository, cache, len(archive)); !strings.Contains(said, want) {
				t.Errorf("it asks\n%s\nwant\n%s", said, want)
			}
			if _, err := terminal.WriteString(c.typed); err != nil {
				t.Fatal(err)
			}
			end := "install them"
			if c.fetches {
				end = "it stays in"
			}
			said = readTo(t, terminal, end)
			if shown := strings.Contains(said, "unpacking"); shown != c.fetches {
				t.Errorf("progress shown: %t\n%q", shown, said)
			}
			if err := <-done; (err == nil) != c.fetches || isEmpty(t, cache) == c.fetches {
				t.Errorf("%v\n%s", err, said)
			}
		})
	}
}

// readTo reads from a terminal until there is some text.
func readTo(t *testing.T, terminal *os.File, text string) string {
	t.Helper()
	if err := terminal.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for buffer := make([]byte, 4096); !strings.Contains(said.String(), text); {
		n, err := terminal.Read(buffer)
		said.Write(buffer[:n])
		if err != nil {
			t.Fatalf("%v, before %q came:\n%s", err, text, said.String())
		}
	}
	return said.String()
}
