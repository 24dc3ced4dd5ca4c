// Package sandboxtest gives tests databases of their own on throwaway PostgreSQL servers.
//
// All test binaries of one run of go test share a server, which ends with the run. A test binary that
// was started by anything else has a server to itself.
//
// It imports package store for the schema, so store's own tests that use it are in package store_test.
//
// Everything here is safe for parallel tests, and fails the test when it cannot be had.
package sandboxtest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
)

// limit bounds each step on the server, also on a busy machine.
const limit = 5 * time.Minute

// Database returns the URL of a new database that has jobtop's schema and the locale C. It is dropped
// when the test ends.
func Database(t testing.TB) string {
	t.Helper()
	return newDatabase(t, sandbox.CreateOptions{Template: template(t, cTemplate)})
}

// NonCDatabase is Database with a locale that sorts differently from C. Where the server knows none the
// test is skipped.
func NonCDatabase(t testing.TB) string {
	t.Helper()
	return newDatabase(t, sandbox.CreateOptions{Template: template(t, nonCTemplate)})
}

// EmptyDatabase returns the URL of a new, empty database. It is dropped when the test ends.
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	return newDatabase(t, sandbox.CreateOptions{})
}

// Pool returns connections to a database. They are closed when the test ends, before a database that
// the test got earlier is dropped.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Server starts a server for this test alone, such as one to crash. It is stopped when the test ends.
func Server(t testing.TB, opts sandbox.Options) *sandbox.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
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

// newDatabase creates a database on the shared server for the life of the test.
func newDatabase(t testing.TB, opts sandbox.CreateOptions) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text()[:12])
	var own string
	err := onShared(func(ctx context.Context, conn *pgx.Conn, server string) error {
		own = databaseURL(server, name)
		return sandbox.CreateDatabase(ctx, conn, name, opts)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := onShared(func(ctx context.Context, conn *pgx.Conn, _ string) error {
			return sandbox.DropDatabase(ctx, conn, name)
		})
		if err != nil {
			t.Error(err)
		}
	})
	return own
}

// databaseURL returns a server's URL with another database.
func databaseURL(server, database string) string {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // the sandbox made it
	}
	u.Path = "/" + database
	return u.String()
}

// sharedPool keeps a few connections for creating and dropping databases.
var sharedPool = sync.OnceValues(func() (*pgxpool.Pool, error) {
	server, err := sharedURL()
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(server)
	if err != nil {
		return nil, err
	}
	config.MaxConns = 4
	return pgxpool.NewWithConfig(context.Background(), config)
})

// onShared runs something over a superuser's connection to the shared server, whose URL it is given.
func onShared(do func(ctx context.Context, conn *pgx.Conn, server string) error) error {
	pool, err := sharedPool()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return do(ctx, conn.Conn(), pool.Config().ConnString())
}

// Template databases hold the schema, for others to be copied from. Each is made once in a run.
var (
	cTemplate    = onceTemplate("jobtop_template", sandbox.CreateOptions{})
	nonCTemplate = onceTemplate("jobtop_template_non_c", sandbox.CreateOptions{NonCLocale: true})
)

// template returns the name of a template database.
func template(t testing.TB, get func() (string, error)) string {
	t.Helper()
	name, err := get()
	if errors.Is(err, sandbox.ErrNoLocale) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func onceTemplate(name string, opts sandbox.CreateOptions) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		return name, onShared(func(ctx context.Context, conn *pgx.Conn, server string) error {
			return makeTemplate(ctx, conn, server, name, opts)
		})
	})
}

// makeTemplate makes a template database unless another process of the run has made it. It gets its
// name last, so that a process that dies on the way leaves no half-made one.
func makeTemplate(ctx context.Context, conn *pgx.Conn, server, name string, opts sandbox.CreateOptions) (err error) {
	const lock = 0x6a6f62746f70 // any number that tests do not use; advisory locks are a database's own
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lock); err != nil {
		return err
	}
	defer func() {
		_, unlockErr := conn.Exec(ctx, "select pg_advisory_unlock($1)", lock)
		err = errors.Join(err, unlockErr)
	}()
	var made bool
	err = conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&made)
	if err != nil || made {
		return err
	}
	draft := name + "_draft"
	if err := sandbox.DropDatabase(ctx, conn, draft); err != nil {
		return err
	}
	if err := sandbox.CreateDatabase(ctx, conn, draft, opts); err != nil {
		return err
	}
	if _, err := store.ApplySchema(ctx, databaseURL(server, draft)); err != nil {
		return err
	}
	for _, sql := range []string{
		"alter database " + draft + " rename to " + name,
		"alter database " + name + " allow_connections false", // a session would keep it from being copied
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
