package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// open connects as the program does.
func open(t testing.TB, url string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), store.Options{DSN: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// bounded is a context that no test needs to its end, be the machine busy.
func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// fresh is a database of a test's own, as the program sees it and as a superuser does.
func fresh(t testing.TB) (*store.DB, *pgxpool.Pool, context.Context) {
	t.Helper()
	url := sandboxtest.Database(t)
	return open(t, url), sandboxtest.Pool(t, url), bounded(t)
}

// must runs a statement as the superuser.
func must(ctx context.Context, t testing.TB, pool *pgxpool.Pool, sql string, arguments ...any) {
	t.Helper()
	if _, err := pool.Exec(ctx, sql, arguments...); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
}

// forge runs statements with the guard off, for a past that the functions cannot make.
func forge(ctx context.Context, t testing.TB, pool *pgxpool.Pool, statements ...string) {
	t.Helper()
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, sql := range append([]string{"SET LOCAL session_replication_role = replica"}, statements...) {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStatementsArePreparable(t *testing.T) {
	_, pool, ctx := fresh(t)
	conn, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, s := range store.Statements() {
		if s.Name == "schema_version_table" {
			continue // a script, which the schema's own tests run
		}
		t.Run(s.Name, func(t *testing.T) {
			sql, _, err := pgx.NamedArgs{}.RewriteQuery(ctx, conn.Conn(), s.SQL, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Conn().Prepare(ctx, "", sql); err != nil {
				t.Errorf("%v\n%s", err, sql)
			}
		})
	}
}
