package store_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// TestWhatToAskFor: whoever lacks a right is told which role gives it, and to whom.
func TestWhatToAskFor(t *testing.T) {
	t.Parallel()
	dsn := sandboxtest.Database(t)
	pool, ctx := sandboxtest.Pool(t, dsn), bounded(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k', '{}')`)
	id := strings.ReplaceAll(uuid.NewString(), "-", "")
	for _, name := range []string{"nobody_" + id, "Nobody@" + id} {
		must(ctx, t, pool, fmt.Sprintf(`CREATE ROLE %q LOGIN PASSWORD 'made-up'`, name))
		t.Cleanup(func() { must(context.Background(), t, pool, fmt.Sprintf(`DROP ROLE %q`, name)) })
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(name, "made-up")
		db := open(t, u.String())
		to := name
		if strings.Contains(name, "@") {
			to = `"` + name + `"`
		}
		for role, calls := range map[string]map[string]func() error{
			"jobtop_viewer": {
				"Poll":         func() error { _, err := db.Poll(ctx); return err },
				"Server":       func() error { _, err := db.Server(ctx); return err },
				"CountExactly": func() error { _, err := db.CountExactly(ctx, time.Minute, nil); return err },
				"CheckSchema":  func() error { _, err := store.CheckSchema(ctx, u.String()); return err },
			},
			"jobtop_operator": {
				"Act": func() error {
					_, err := db.Act(ctx, store.ActRequest{ActionID: uuid.NewString(), Verb: "dead", JobID: "j", SeenState: "pending", SeenVersion: 1, Operator: "o", Reason: "r"})
					return err
				},
				"Pause": func() error {
					_, err := db.Pause(ctx, store.PauseRequest{ActionID: uuid.NewString(), Kind: "k", Operator: "o", Reason: "r"})
					return err
				},
			},
			"jobtop_worker": {
				"Enqueue":     func() error { _, err := db.Enqueue(ctx, store.NewJob{ID: "i", Kind: "k"}); return err },
				"BeginEffect": func() error { _, err := db.BeginEffect(ctx, "j", uuid.NewString()); return err },
				"BeginNext": func() error {
					_, err := db.BeginNext(ctx, store.ClaimRequest{Worker: "w", Token: uuid.NewString(), Kinds: []string{"k"}}, nil)
					return err
				},
			},
			"jobtop_owner": {
				"ApplySchema": func() error { _, err := store.ApplySchema(ctx, u.String()); return err },
			},
		} {
			for call, do := range calls {
				err := do()
				if want := "ask for GRANT " + role + " TO " + to; !errors.Is(err, store.ErrNoRights) || !strings.Contains(err.Error(), "; ") || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%s: %v, want … %s", call, err, want)
				}
			}
		}
		empty, err := url.Parse(sandboxtest.EmptyDatabase(t))
		if err != nil {
			t.Fatal(err)
		}
		empty.User = u.User
		if _, err := store.ApplySchema(ctx, empty.String()); !errors.Is(err, store.ErrNoRights) || !strings.Contains(err.Error(), "CREATEROLE") {
			t.Errorf("ApplySchema of an empty database: %v", err)
		}
		must(ctx, t, pool, fmt.Sprintf(`REVOKE CONNECT ON DATABASE %q FROM PUBLIC`, u.Path[1:]))
		if _, err := store.CheckSchema(ctx, u.String()); !errors.Is(err, store.ErrNoRights) || !strings.HasSuffix(err.Error(), "ask for GRANT CONNECT ON DATABASE "+u.Path[1:]+" TO "+to) {
			t.Errorf("no right to connect: %v", err)
		}
		away := open(t, u.String()) // of two reasons it names the one that comes first
		if _, err := away.Pause(ctx, store.PauseRequest{ActionID: uuid.NewString(), Kind: "k", Operator: "o", Reason: "r"}); err == nil || !strings.Contains(err.Error(), "GRANT CONNECT") {
			t.Errorf("no right to connect: %v", err)
		}
		must(ctx, t, pool, fmt.Sprintf(`GRANT CONNECT ON DATABASE %q TO PUBLIC`, u.Path[1:]))
	}
}
