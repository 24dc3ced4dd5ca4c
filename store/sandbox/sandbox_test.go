package sandbox_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"jobtop/store/sandbox"
)

func start(t *testing.T, opts sandbox.Options) *sandbox.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := sandbox.Start(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func query[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	var value T
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func gone(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

func TestStartAndStop(t *testing.T) {
	t.Parallel()
	began := time.Now()
	s := start(t, sandbox.Options{})
	t.Logf("PostgreSQL %s started in %s", s.Version(), time.Since(began).Round(time.Millisecond))
	pid, dir := s.PID(), s.Dir()
	if !strings.HasPrefix(filepath.Base(dir), "jobtop-") {
		t.Errorf("directory %s", dir)
	}

	conn := connect(t, s.URL("postgres"))
	if got := query[string](t, conn, "show server_version"); !strings.HasPrefix(got, s.Version().String()) {
		t.Errorf("server_version is %s, want %s", got, s.Version())
	}
	for name, want := range map[string]string{
		"fsync": "off", "full_page_writes": "off", "synchronous_commit": "on", "lc_collate": "C", "server_encoding": "UTF8", "TimeZone": "UTC",
		"listen_addresses": "127.0.0.1", "port": strconv.Itoa(s.Port()),
	} {
		const sql = "select coalesce(current_setting($1, true), (select datcollate from pg_database where datname = current_database()))"
		if got := query[string](t, conn, sql, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}

	for range 2 {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v", pid, err)
	}
	if !gone(dir) {
		t.Errorf("%s is still there", dir)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes left: %q", left)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a stopped server restarted")
	}
}

func TestPasswordIsAskedFor(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	without, err := url.Parse(s.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	without.User = url.User(sandbox.Superuser)
	for _, dsn := range []string{
		without.String(),
		"host='" + s.Socket() + "' port=" + strconv.Itoa(s.Port()) + " user=jobtop dbname=postgres",
		"host='" + s.Socket() + "' port=" + strconv.Itoa(s.Port()) + " user=jobtop dbname=postgres password=guess",
	} {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pgx.ConnectConfig(t.Context(), config)
		if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || !strings.HasPrefix(refused.Code, "28") {
			t.Errorf("%s: got %v, want a refusal", dsn, err)
		}
	}

	password, _ := mustParse(t, s.URL("postgres")).User.Password()
	conn := connect(t, "host='"+s.Socket()+"' port="+strconv.Itoa(s.Port())+" user=jobtop dbname=postgres password="+password)
	query[int](t, conn, "select 1")
	if info, err := os.Stat(s.Socket()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's directory: %v, %v", info.Mode(), err)
	}
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{
		Durable:  true,
		Settings: map[string]string{"max_connections": "17", "jobtop.word": `it's \n`, "timezone": "Asia/Tokyo"},
	})
	conn := connect(t, s.URL("postgres"))
	for name, want := range map[string]string{
		"max_connections": "17", "jobtop.word": `it's \n`, "TimeZone": "Asia/Tokyo",
		"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
	} {
		if got := query[string](t, conn, "select current_setting($1)", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestLocale(t *testing.T) {
	t.Parallel()
	conn := connect(t, start(t, sandbox.Options{}).URL("postgres"))
	if !query[bool](t, conn, "select exists (select from pg_collation where collname = 'en_US.utf8')") {
		t.Skip("this system has no locale en_US.utf8 to start a server in")
	}
	conn = connect(t, start(t, sandbox.Options{Locale: "en_US.utf8"}).URL("postgres"))
	if !query[bool](t, conn, "select 'a' < 'B'") {
		t.Error("text sorts as in C")
	}
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	a, b := start(t, sandbox.Options{}), start(t, sandbox.Options{})
	if a.Port() == b.Port() || a.Dir() == b.Dir() {
		t.Fatalf("both have port %d or directory %s", a.Port(), a.Dir())
	}
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	query[int](t, connect(t, b.URL("postgres")), "select 1")
}

func TestFailedStartLeavesNothing(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		opts sandbox.Options
		want string
	}{
		{"a setting with a bad value", t.Context(), sandbox.Options{Settings: map[string]string{"max_connections": "many"}}, `invalid value for parameter "max_connections"`},
		{"a reserved setting", t.Context(), sandbox.Options{Settings: map[string]string{"port": "5432"}}, "not allowed"},
		{"a second line in a setting", t.Context(), sandbox.Options{Settings: map[string]string{"timezone": "UTC\nport=1"}}, "not allowed"},
		{"no such locale", t.Context(), sandbox.Options{Locale: "xx_XX.utf8"}, "invalid locale name"},
		{"cancelled", cancelled, sandbox.Options{}, "context canceled"},
		{"no such programs", t.Context(), sandbox.Options{Programs: sandbox.Programs{Dir: "/nowhere"}}, "/nowhere/initdb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := sandbox.Start(test.ctx, test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q in it", err, test.want)
			}
		})
	}
}
