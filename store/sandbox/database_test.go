package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"jobtop/store/sandbox"
)

func TestDatabases(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	const odd = `od"d name` // quoted wherever it goes
	if err := s.CreateDatabase(t.Context(), odd, sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.URL(odd))
	execute(t, conn, "create table kept as select 1 as n")
	_ = conn.Close(t.Context())

	began := time.Now()
	if err := s.CreateDatabase(t.Context(), "copy", sandbox.CreateOptions{Template: odd}); err != nil {
		t.Fatal(err)
	}
	t.Logf("copied a database in %s", time.Since(began).Round(time.Millisecond))
	copied := connect(t, s.URL("copy"))
	if n := query[int](t, copied, "select n from kept"); n != 1 {
		t.Errorf("the copy has %d", n)
	}
	if err := s.CreateDatabase(t.Context(), "copy", sandbox.CreateOptions{}); err == nil {
		t.Error("created a database twice")
	}
	for range 2 { // also with a session in it, and when it is gone
		if err := s.DropDatabase(t.Context(), "copy"); err != nil {
			t.Fatal(err)
		}
	}
	if query[bool](t, connect(t, s.URL("postgres")), "select exists (select from pg_database where datname = 'copy')") {
		t.Error("the database is still there")
	}
}

func TestNonCLocale(t *testing.T) {
	t.Parallel()
	s := start(t, sandbox.Options{})
	if query[bool](t, connect(t, s.URL("postgres")), "select 'a' < 'B'") {
		t.Error("the server's own locale is not C")
	}
	err := s.CreateDatabase(t.Context(), "other", sandbox.CreateOptions{NonCLocale: true})
	if errors.Is(err, sandbox.ErrNoLocale) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.URL("other"))
	if !query[bool](t, conn, "select 'a' < 'B'") {
		t.Error("text sorts as in C")
	}
	if got := query[string](t, conn, "show server_encoding"); got != "UTF8" {
		t.Errorf("the encoding is %s", got)
	}

	// Without libc's locales, ICU's serve from version 15 on; without those too, nothing does.
	execute(t, connect(t, s.URL("postgres")), "delete from pg_collation where collprovider = 'c' and collencoding = 6")
	err = s.CreateDatabase(t.Context(), "icu", sandbox.CreateOptions{NonCLocale: true})
	switch {
	case err == nil && s.Version().Major >= 15:
		if !query[bool](t, connect(t, s.URL("icu")), "select 'a' < 'B'") {
			t.Error("text sorts as in C under ICU")
		}
	case !errors.Is(err, sandbox.ErrNoLocale):
		t.Errorf("got %v, want ErrNoLocale or, from version 15 on, a database", err)
	}
	execute(t, connect(t, s.URL("postgres")), "delete from pg_collation where collprovider = 'i'")
	if err := s.CreateDatabase(t.Context(), "none", sandbox.CreateOptions{NonCLocale: true}); !errors.Is(err, sandbox.ErrNoLocale) {
		t.Errorf("got %v, want ErrNoLocale", err)
	}
}
