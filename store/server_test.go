package store_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// with adds a setting of the session to a URL.
func with(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// reads are the reads that a viewer may make of a job j.
var reads = map[string]func(context.Context, *store.DB) error{
	"Poll": func(ctx context.Context, db *store.DB) error { _, err := db.Poll(ctx); return err },
	"Jobs": func(ctx context.Context, db *store.DB) error { _, err := db.Jobs(ctx, store.JobQuery{}); return err },
	"Stuck": func(ctx context.Context, db *store.DB) error {
		_, err := db.Jobs(ctx, store.JobQuery{Stuck: true})
		return err
	},
	"Done": func(ctx context.Context, db *store.DB) error {
		_, err := db.Jobs(ctx, store.JobQuery{Conditions: where("state:done")})
		return err
	},
	"Key": func(ctx context.Context, db *store.DB) error {
		_, err := db.Jobs(ctx, store.JobQuery{Conditions: where("receipt:r")})
		return err
	},
	"Prefix": func(ctx context.Context, db *store.DB) error {
		_, err := db.Jobs(ctx, store.JobQuery{Conditions: where("id:j*")})
		return err
	},
	"Verdict": func(ctx context.Context, db *store.DB) error {
		_, err := db.Jobs(ctx, store.JobQuery{Conditions: where("verdict:happened", "!receipt:x")})
		return err
	},
	"Row": func(ctx context.Context, db *store.DB) error { _, err := db.Row(ctx, "j"); return err },
	"Job": func(ctx context.Context, db *store.DB) error { _, err := db.Job(ctx, "j"); return err },
	"Actions": func(ctx context.Context, db *store.DB) error {
		_, err := db.Actions(ctx, store.ActionQuery{})
		return err
	},
	"Receipts": func(ctx context.Context, db *store.DB) error { _, err := db.Receipts(ctx, 5); return err },
}

func payload(ctx context.Context, db *store.DB) error { _, err := db.Payload(ctx, "j"); return err }

func TestRights(t *testing.T) {
	t.Parallel()
	dsn := sandboxtest.Database(t)
	pool, ctx := sandboxtest.Pool(t, dsn), bounded(t)
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'k', '{"n":1}')`)
	both := "both_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	must(ctx, t, pool, `CREATE ROLE `+both+` IN ROLE jobtop_viewer, jobtop_payload`)
	t.Cleanup(func() { must(context.Background(), t, pool, `DROP ROLE `+both) })

	type can struct{ view, act, payload, work bool }
	for role, want := range map[string]can{
		"jobtop":          {true, true, true, true},
		"jobtop_viewer":   {view: true},
		"jobtop_operator": {view: true, act: true},
		"jobtop_payload":  {payload: true},
		"jobtop_worker":   {work: true},
		both:              {view: true, payload: true},
		"pg_monitor":      {},
	} {
		t.Run(strings.Split(role, "_")[0]+role[strings.LastIndex(role, "_")+1:], func(t *testing.T) {
			db := open(t, with(t, dsn, "options", "-c role="+role))
			s, err := db.Server(ctx)
			if got := (can{s.CanView, s.CanAct, s.CanReadPayload, s.CanWork}); got != want || s.Role != role {
				t.Errorf("%s: %+v", s.Role, got)
			}
			if want.view && (err != nil || !s.Schema.Current() || len(s.Edges) != 22) {
				t.Errorf("%+v, %v", s, err)
			}
			if !want.view && !errors.Is(err, store.ErrNoRights) {
				t.Errorf("%+v, %v", s, err)
			}
			for name, read := range reads {
				if err := read(ctx, db); (err == nil) != want.view || (err != nil && !errors.Is(err, store.ErrNoRights)) {
					t.Errorf("%s: %v", name, err)
				}
			}
			// The payload role alone lacks the viewer's rights, which every read begins with.
			if err := payload(ctx, db); (err == nil) != (want.view && want.payload) || (err != nil && (!errors.Is(err, store.ErrNoRights) || !strings.Contains(err.Error(), "jobtop_payload"))) {
				t.Errorf("Payload: %v", err)
			}
			_, err = db.Pause(ctx, store.PauseRequest{ActionID: uuid.NewString(), Kind: "k", Operator: "o", Reason: "r"})
			if (err == nil) != want.act || (err != nil && !errors.Is(err, store.ErrNoRights)) {
				t.Errorf("Pause: %v", err)
			}
		})
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	dsn := sandboxtest.Database(t)
	db, ctx := open(t, dsn), bounded(t)
	s, err := db.Server(ctx)
	if err != nil || s.Replica || s.WritesOff || s.Version < 140000 || !strings.HasPrefix(s.Database, "test_") || s.Host == "" {
		t.Errorf("%+v, %v", s, err)
	}

	off := open(t, with(t, dsn, "options", "-c default_transaction_read_only=on"))
	if s, err = off.Server(ctx); err != nil || !s.WritesOff {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err = off.Poll(ctx); err != nil {
		t.Error(err)
	}
	if _, err = off.Server(ctx); err != nil {
		t.Error(err)
	}
}

func TestReadsOfAnotherSchema(t *testing.T) {
	t.Parallel()
	fails := func(t *testing.T, db *store.DB, have int64) {
		t.Helper()
		ctx := bounded(t)
		want := store.SchemaStatus{Have: have, Want: store.SchemaVersion()}
		if s, err := db.Server(ctx); err != nil || s.Schema != want || s.Database == "" || s.Role == "" {
			t.Errorf("%+v, %v", s, err)
		}
		for name, read := range reads {
			var schema *store.SchemaError
			if err := read(ctx, db); !errors.Is(err, store.ErrSchema) || !errors.As(err, &schema) || schema.Status != want {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := payload(ctx, db); !errors.Is(err, store.ErrSchema) {
			t.Error(err)
		}
	}
	t.Run("none", func(t *testing.T) { fails(t, open(t, sandboxtest.EmptyDatabase(t)), 0) })
	t.Run("older", func(t *testing.T) {
		db, pool, ctx := fresh(t)
		must(ctx, t, pool, `DELETE FROM jobtop.schema_version WHERE version_id = $1`, store.SchemaVersion())
		fails(t, db, store.SchemaVersion()-1)
	})
	t.Run("newer", func(t *testing.T) {
		db, pool, ctx := fresh(t)
		must(ctx, t, pool, `INSERT INTO jobtop.schema_version (version_id, is_applied) VALUES (99999, true)`)
		fails(t, db, 99999)
	})
	t.Run("begun", func(t *testing.T) {
		db, pool, ctx := fresh(t)
		must(ctx, t, pool, `DELETE FROM jobtop.schema_version WHERE version_id > 0`)
		must(ctx, t, pool, `DROP TABLE jobtop.edges, jobtop.paused CASCADE`)
		fails(t, db, 0)
	})
}
