package fetch

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jobtop/store/sandbox"
)

// programs is made of scripts that tell a version: tar -c bin share | xz, with modes that let only their
// owner read them.
//
//go:embed testdata/programs.txz
var programs []byte

// jar is an archive as repositories serve it, with some padding to make it take more than one read.
func jar(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, file := range []struct {
		name    string
		content []byte
	}{{"META-INF/MANIFEST.MF", bytes.Repeat([]byte{'x'}, 1<<18)}, {name, content}} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Store})
		if err == nil {
			_, err = f.Write(file.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func good(t *testing.T) []byte { return jar(t, "postgres.txz", programs) }

func sum(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// repository serves an archive on loopback and notes the requests. A test may replace what answers them.
type repository struct {
	archive  []byte
	checksum string
	answer   func(w http.ResponseWriter, r *http.Request) (done bool)

	mu       sync.Mutex
	requests []string
	url      string
}

func (r *repository) serve(t *testing.T) *repository {
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL + "/maven2"
	return r
}

func newRepository(t *testing.T, archive []byte) *repository {
	return (&repository{archive: archive, checksum: sum(archive)}).serve(t)
}

func (r *repository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.requests = append(r.requests, request.Method+" "+filepath.Ext(request.URL.Path))
	r.mu.Unlock()
	if r.answer != nil && r.answer(w, request) {
		return
	}
	path, ok := strings.CutPrefix(request.URL.Path, "/maven2/io/zonky/test/postgres/embedded-postgres-binaries-")
	switch {
	case ok && strings.HasSuffix(path, "-"+Version+".jar"):
		w.Header().Set("Content-Length", strconv.Itoa(len(r.archive)))
		_, _ = w.Write(r.archive)
	case ok && strings.HasSuffix(path, "-"+Version+".jar.sha256"):
		_, _ = w.Write([]byte(r.checksum))
	default:
		http.NotFound(w, request)
	}
}

func (r *repository) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// entries are the names in a directory; none where there is no directory.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

func TestFetch(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	tmp, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache", "jobtop")
	t.Setenv("TMPDIR", tmp)
	usual := http.DefaultTransport
	r := newRepository(t, good(t))
	var told []int64
	o := Options{Repository: r.url + "/", Dir: cache, Progress: func(done, total int64) {
		if total != int64(len(r.archive)) {
			t.Errorf("the archive is said to have %d bytes, not %d", total, len(r.archive))
		}
		told = append(told, done)
	}}
	got, err := Fetch(t.Context(), o)
	home := filepath.Join(cache, sandbox.FetchedName(Version))
	if want := (sandbox.Programs{Dir: filepath.Join(home, "bin"), Version: sandbox.Version{Major: 18, Minor: 3}}); err != nil || got != want {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	if len(told) < 3 || !slices.IsSorted(told) || told[len(told)-1] != int64(len(r.archive)) {
		t.Errorf("the progress was %v, of %d", told, len(r.archive))
	}
	if names := entries(t, cache); len(names) != 1 {
		t.Errorf("the cache has %v", names)
	}
	if names := entries(t, tmp); len(names) > 0 || os.Getenv("TMPDIR") != tmp || http.DefaultTransport != usual {
		t.Errorf("left in the process: TMPDIR %s with %v, transport %v", os.Getenv("TMPDIR"), names, http.DefaultTransport)
	}
	if calls, err := os.ReadFile(filepath.Join(home, "called")); err == nil {
		t.Errorf("a server was set up or started:\n%s", calls)
	}

	// Everybody can read them, whatever the umask and the modes in the archive are.
	for path, want := range map[string]fs.FileMode{
		"..": 0o755, ".": 0o755, "bin": 0o755, "bin/postgres": 0o755, "share": 0o755, "share/postgresql.conf.sample": 0o644,
	} {
		info, err := os.Stat(filepath.Join(home, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %o", path, info.Mode(), err, want)
		}
	}
	if to, err := os.Readlink(filepath.Join(home, "bin", "postmaster")); to != "postgres" {
		t.Errorf("the link leads to %q, %v", to, err)
	}

	// The second time, nothing is fetched.
	before := r.seen()
	if again, err := Fetch(t.Context(), o); err != nil || again != got {
		t.Errorf("again: %+v, %v", again, err)
	}
	if after := r.seen(); len(before) != 2 || len(after) != 2 {
		t.Errorf("the requests were %v, then %v", before, after)
	}
	// Unless what is there does not run.
	if err := os.Remove(filepath.Join(home, "bin", "initdb")); err != nil {
		t.Fatal(err)
	}
	if again, err := Fetch(t.Context(), o); err != nil || again != got || len(r.seen()) != 4 {
		t.Errorf("mended: %+v, %v after %v", again, err, r.seen())
	}
}

func TestFetchAsksFirst(t *testing.T) {
	r := newRepository(t, good(t))
	cache := filepath.Join(t.TempDir(), "cache")
	var asked []int64
	answer := false
	o := Options{Repository: r.url, Dir: cache, Confirm: func(size int64) bool { asked = append(asked, size); return answer }}
	if _, err := Fetch(t.Context(), o); !errors.Is(err, ErrDeclined) {
		t.Errorf("declined: %v", err)
	}
	if seen := r.seen(); !slices.Equal(seen, []string{"HEAD .jar"}) || len(entries(t, cache)) > 0 {
		t.Errorf("declined, and yet %v, %v", seen, entries(t, cache))
	}
	answer = true
	r.answer = func(w http.ResponseWriter, request *http.Request) bool { // a repository without HEAD
		if request.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return request.Method == http.MethodHead
	}
	if _, err := Fetch(t.Context(), o); err != nil {
		t.Error(err)
	}
	if want := []int64{int64(len(r.archive)), -1}; !slices.Equal(asked, want) {
		t.Errorf("asked with %v, want %v", asked, want)
	}
}

// A person's answer takes as long as it takes: twice as long as the repository may. That is
// raised where this machine's repository needs more itself.
func TestPatienceIsForTheRepository(t *testing.T) {
	r := newRepository(t, good(t))
	for patience := 100 * time.Millisecond; ; patience *= 2 {
		_, err := Fetch(t.Context(), Options{Repository: r.url, Dir: t.TempDir(), Patience: patience, Confirm: func(int64) bool {
			time.Sleep(2 * patience)
			return true
		}})
		if err == nil {
			return
		}
		if patience > 5*time.Second {
			t.Fatal(err)
		}
	}
}

func TestFetchTwiceAtOnce(t *testing.T) {
	r := newRepository(t, good(t))
	cache := t.TempDir()
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := Fetch(t.Context(), Options{Repository: r.url, Dir: cache}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if seen := r.seen(); len(seen) != 2 {
		t.Errorf("the requests were %v", seen)
	}
}

func TestFailedFetchLeavesNothing(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	only := func(suffix string, answer http.HandlerFunc) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, suffix) {
				return false
			}
			answer(w, r)
			return true
		}
	}
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(make([]byte, 5000))
		panic(http.ErrAbortHandler)
	}
	silent := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, 5000))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		url      string // instead of the repository's
		archive  []byte
		edit     func(r *repository)
		patience time.Duration // a minute if zero
		want     string
	}{
		"not there":         {edit: func(r *repository) { r.answer = only(".jar", http.NotFound) }, want: Version + ".jar: 404 Not Found"},
		"no checksum":       {edit: func(r *repository) { r.answer = only(".sha256", http.NotFound) }, want: ".jar.sha256: 404 Not Found"},
		"another checksum":  {edit: func(r *repository) { r.checksum = sum([]byte("another")) }, want: "checksums do not match"},
		"cut off":           {edit: func(r *repository) { r.answer = only(".jar", cut) }, want: "the download was cut off after 5000 bytes"},
		"cut off, checksum": {edit: func(r *repository) { r.answer = only(".sha256", cut) }, want: "cut off"},
		"silent":            {edit: func(r *repository) { r.answer = only(".jar", silent) }, patience: 200 * time.Millisecond, want: "the repository sent nothing for 200ms"},
		"no archive":        {archive: []byte("<html>sign in</html>"), want: "not a valid zip file"},
		"another archive":   {archive: jar(t, "readme.txt", nil), want: "cannot find binary in archive"},
		"half of it":        {archive: jar(t, "postgres.txz", programs[:len(programs)/2]), want: "unable to extract"},
		"nobody there":      {url: closed.URL, want: "does not answer: "},
		"no URL":            {url: "maven", want: "must be an http or https URL"},
		"a password":        {url: "https://me:secret@example.com", want: "without a user, a password"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &repository{archive: c.archive}
			if r.archive == nil {
				r.archive = good(t)
			}
			r.checksum = sum(r.archive)
			if c.edit != nil {
				c.edit(r)
			}
			r.serve(t)
			if c.url != "" {
				r.url = c.url
			}
			tmp, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			t.Setenv("TMPDIR", tmp)
			got, err := Fetch(t.Context(), Options{Repository: r.url, Dir: cache, Patience: cmp.Or(c.patience, time.Minute)})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%+v, %v; want %s", got, err, c.want)
			}
			if _, err := os.Stat(cache); !errors.Is(err, fs.ErrNotExist) || len(entries(t, tmp)) > 0 {
				t.Errorf("left behind: %v, %v", entries(t, cache), entries(t, tmp))
			}
		})
	}
}

func TestFetchIsStopped(t *testing.T) {
	r := newRepository(t, good(t))
	cache := filepath.Join(t.TempDir(), "cache")
	why := errors.New("the user has had enough")
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := Fetch(ctx, Options{Repository: r.url, Dir: cache, Progress: func(int64, int64) { stop(why) }})
	if !errors.Is(err, why) || len(entries(t, cache)) > 0 {
		t.Errorf("%v, and left %v", err, entries(t, cache))
	}
}

// What a killed process left goes with a later fetch, and another process's fetch stays.
func TestFetchClearsUp(t *testing.T) {
	r := newRepository(t, good(t))
	cache := t.TempDir()
	for name, age := range map[string]time.Duration{"fetch-old": 2 * time.Hour, "fetch-new": time.Minute} {
		dir := filepath.Join(cache, name)
		at := time.Now().Add(-age)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chtimes(dir, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Fetch(t.Context(), Options{Repository: r.url, Dir: cache}); err != nil {
		t.Fatal(err)
	}
	if names := entries(t, cache); !slices.Equal(names, []string{"fetch-new", sandbox.FetchedName(Version)}) {
		t.Errorf("the cache has %v", names)
	}
}
