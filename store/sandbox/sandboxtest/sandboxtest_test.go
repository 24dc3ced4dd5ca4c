package sandboxtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store/sandbox"
)

func value[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) T {
	t.Helper()
	var v T
	if err := pool.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestDatabasesAreSeparateAndDropped(t *testing.T) {
	t.Parallel()
	for _, kind := range []struct {
		name   string
		get    func(testing.TB) string
		sorts  bool // 'a' < 'B'
		schema bool
	}{
		{"schema", Database, false, true},
		{"empty", EmptyDatabase, false, false},
		{"non-C", NonCDatabase, true, true},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var names []string
			t.Run("use", func(t *testing.T) {
				for range 2 {
					pool := Pool(t, kind.get(t))
					names = append(names, value[string](t, pool, "select current_database()"))
					if got := value[bool](t, pool, "select 'a' < 'B'"); got != kind.sorts {
						t.Errorf("'a' < 'B' is %t", got)
					}
					if got := value[bool](t, pool, "select to_regclass('jobtop.jobs') is not null"); got != kind.schema {
						t.Errorf("schema there: %t", got)
					}
					if _, err := pool.Exec(t.Context(), "create table mine ()"); err != nil {
						t.Error(err)
					}
				}
			})
			pool := Pool(t, EmptyDatabase(t))
			if n := value[int](t, pool, "select count(*) from pg_database where datname = any($1)", names); n != 0 || len(names) != 2 {
				t.Errorf("%d of %q are still there", n, names)
			}
		})
	}
}

// TestDropEndsSessions: a connection that a test forgot does not keep its database.
func TestDropEndsSessions(t *testing.T) {
	t.Parallel()
	var forgotten *pgx.Conn
	t.Run("use", func(t *testing.T) {
		var err error
		if forgotten, err = pgx.Connect(t.Context(), EmptyDatabase(t)); err != nil {
			t.Fatal(err)
		}
	})
	defer func() { _ = forgotten.Close(context.Background()) }()
	if _, err := forgotten.Exec(t.Context(), "select 1"); err == nil {
		t.Error("the session goes on")
	}
}

func TestServerOfItsOwn(t *testing.T) {
	t.Parallel()
	s := Server(t, sandbox.Options{Settings: map[string]string{"max_connections": "11"}})
	if got := value[string](t, Pool(t, s.URL("postgres")), "show max_connections"); got != "11" {
		t.Errorf("max_connections is %s", got)
	}
}

func BenchmarkDatabase(b *testing.B) {
	Database(b)
	for b.Loop() {
		Database(b)
	}
}
