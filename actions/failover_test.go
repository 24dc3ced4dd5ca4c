package actions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// The primary dies with the answer, a standby takes over after a while, and the act is
// settled there: which is told. The standby is the same server, started as one.
func TestFailoverOfARealServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := sandboxtest.Server(t, sandbox.Options{Settings: map[string]string{"wal_level": "replica", "max_wal_senders": "2"}})
	url := server.URL("postgres")
	if _, err := store.ApplySchema(ctx, url); err != nil {
		t.Fatal(err)
	}
	l := ledgerAt(t, url)
	id, _ := l.bring(Review, false)
	before, err := l.db.Identity(ctx)
	if err != nil {
		t.Fatal(err)
	}

	r := l.runner("alice")
	asked := 0
	r.DB = &fake{Database: l.db,
		onAct: func(next call) (store.ActAnswer, error) {
			answer, err := cutAfter(next)
			signal := filepath.Join(server.Dir(), "data", "standby.signal")
			if err := errors.Join(server.Crash(), os.WriteFile(signal, nil, 0o666), os.Chmod(signal, 0o666), server.Restart(ctx)); err != nil {
				t.Fatal(err)
			}
			return answer, err
		},
		onAsk: func(next call) (store.ActAnswer, error) {
			answer, err := next()
			asked++
			switch asked {
			case 1:
				if err == nil {
					t.Error("a standby settled an act")
				}
			case 2:
				if !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("a standby settles with %v", err)
				}
				if _, err := l.db.Identity(ctx); !errors.Is(err, store.ErrReadOnly) {
					t.Errorf("a standby names itself with %v", err)
				}
				eventually(t, "the standby is promoted", func() bool {
					promoted := ""
					_ = l.pool.QueryRow(ctx, "SELECT pg_promote()::text").Scan(&promoted)
					return promoted == "true"
				})
			}
			return answer, err
		}}
	result := l.must(r, l.order(VerbDead, id), Applied)
	if !result.Settled || !result.Failover || !strings.HasSuffix(Explain(result), "that is how the present primary has it, after a failover") {
		t.Errorf("%s", Explain(result))
	}
	after, err := l.db.Identity(ctx)
	if err != nil || after.Database != before.Database || after.Timeline <= before.Timeline {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
	if l.state(id) != Dead {
		t.Errorf("it is %s", l.state(id))
	}
}

// An operator without any other rights may ask who the database is.
func TestIdentityNeedsNoRights(t *testing.T) {
	t.Parallel()
	url := sandboxtest.Database(t)
	whole, err := store.Open(context.Background(), store.Options{DSN: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(whole.Close)
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	operator, err := store.Open(context.Background(), store.Options{DSN: url + separator + "options=-c%20role%3Djobtop_operator"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(operator.Close)
	want, err := whole.Identity(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	got, err := operator.Identity(context.Background())
	if err != nil || got != want || want.Timeline < 1 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if strings.Contains(got.Database, "@") || strings.Count(got.Database, "/") < 2 {
		t.Errorf("it names the database %q", got.Database)
	}
}
