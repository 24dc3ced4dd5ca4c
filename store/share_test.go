package store_test

import (
	"testing"
	"time"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// TestConsolesAreCounted: each console by the name that its connections have; other
// programs, and consoles of other databases, are none.
func TestConsolesAreCounted(t *testing.T) {
	t.Parallel()
	url := sandboxtest.Database(t)
	ctx := bounded(t)
	var first *store.DB
	for i, dsn := range []string{url, url, sandboxtest.Database(t)} {
		db, err := store.Open(ctx, store.Options{DSN: dsn, Application: store.ConsoleApplication("v1.2.3")})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if i == 0 {
			first = db
		}
		if _, err := db.Poll(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, url).Poll(ctx); err != nil {
		t.Fatal(err)
	}
	poll, err := first.Poll(ctx)
	if err != nil || poll.Consoles != 2 {
		t.Errorf("%d consoles, want 2 (%v)", poll.Consoles, err)
	}
}

// TestAReadThatFailsHasItsCost: what the server gives up has taken its time.
func TestAReadThatFailsHasItsCost(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	locked(ctx, t, pool, "LOCK TABLE jobtop.jobs")
	before := db.ServerTime()
	if _, err := db.Poll(ctx); err == nil {
		t.Fatal("a poll came through a lock")
	}
	if cost := db.ServerTime() - before; cost < time.Second {
		t.Errorf("a read that waited a second for a lock cost %v", cost)
	}
}
