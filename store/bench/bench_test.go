package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// named makes a database of a name beside others of the tests' server.
func named(t *testing.T, name string) (dsn string, conn *pgx.Conn) {
	t.Helper()
	ctx := context.Background()
	beside := sandboxtest.EmptyDatabase(t)
	conn, err := pgx.Connect(ctx, beside)
	if err != nil {
		t.Fatal(err)
	}
	if err := sandbox.CreateDatabase(ctx, conn, name, sandbox.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.DropDatabase(ctx, conn, name); err != nil {
			t.Error(err)
		}
		_ = conn.Close(ctx)
	})
	return withDatabase(beside, name), conn
}

// TestRunMeasuresEverything also checks that a filled table is one that the schema would
// let come about: nothing in it contradicts itself.
func TestRunMeasuresEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("fills five tables")
	}
	dsn, conn := named(t, "test_"+Marker)
	ctx := context.Background()
	var checked []string
	o := Options{DSN: dsn, Jobs: 3_000, Rounds: 1, Churn: time.Second}
	o.Hold = func(ctx context.Context, db *store.DB, jobs []store.Job) error {
		if len(checked) == 0 { // a table is there now
			rows, _ := conn.Query(ctx, `SELECT datname FROM pg_database WHERE datname LIKE 'test\_jobtop\_bench\_%'`)
			var err error
			if checked, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
				return err
			}
			for after := ""; ; {
				found, next, _, err := db.ContradictionsAfter(ctx, after)
				if err != nil {
					return err
				}
				for _, c := range found {
					if c.Problem != store.StateUnexplained || c.State != "pending" { // a bare UPDATE's
						t.Errorf("%+v", c)
					}
				}
				if after = next; next == "" {
					break
				}
			}
		}
		for _, j := range jobs {
			answer, err := db.Act(ctx, store.ActRequest{ActionID: newID(), Verb: "hold", JobID: j.ID, SeenState: j.State, SeenVersion: j.Version, Operator: "test", Reason: "a test"})
			if err != nil || answer.Outcome != "applied" {
				return errors.Join(err, errors.New(answer.Outcome))
			}
		}
		return nil
	}
	r, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{poll, overview, groupBy, stuckList, reviewList, deepPage, doneDeep, byID, byPrefix, byEffect, byReceipt, detail, tried, doctor,
		oneAct, bareUpdate, bulk, loop, claimFresh, claimQuiet, claimOld, pollFresh, pollQuiet, pollOld} {
		n := 0
		for _, f := range r.Figures {
			if f.What == what {
				n++
				if f.N == 0 || f.Median <= 0 || f.Least > f.Median || f.Median > f.P95 {
					t.Errorf("%+v", f)
				}
			}
		}
		if n == 0 {
			t.Errorf("%s was not measured", what)
		}
	}
	if len(r.Tables) != 4 || len(r.Goals) < 15 {
		t.Errorf("%d tables and %d goals", len(r.Tables), len(r.Goals))
	}
	var left int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM pg_database WHERE datname = ANY ($1)`, checked).Scan(&left); err != nil || left != 0 || len(checked) < 4 {
		t.Errorf("%d of %v are left (%v)", left, checked, err)
	}
}

func TestRunRefusesOtherDatabases(t *testing.T) {
	dsn := sandboxtest.Database(t)
	before := schemaOf(t, dsn)
	_, err := Run(context.Background(), Options{DSN: dsn})
	var problem *store.Problem
	if !errors.As(err, &problem) || !strings.Contains(err.Error(), "is not for benchmarks, and nothing was done there") {
		t.Errorf("%v", err)
	}
	if after := schemaOf(t, dsn); after != before {
		t.Errorf("%s, before %s", after, before)
	}
}

// TestRunLeavesAloneWhatIsThere: databases of the names that it would use.
func TestRunLeavesAloneWhatIsThere(t *testing.T) {
	dsn, _ := named(t, "other_"+Marker)
	there, conn := named(t, "other_"+Marker+"_"+small)
	if _, err := Run(context.Background(), Options{DSN: dsn, Jobs: 2_000, Shapes: []Shape{Done}}); err == nil || !strings.Contains(err.Error(), "and it was left alone") {
		t.Errorf("%v", err)
	}
	if err := conn.Ping(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := schemaOf(t, there); got != "0" {
		t.Errorf("the database that was there has %s tables now", got)
	}
}

func schemaOf(t *testing.T, dsn string) (tables string) {
	t.Helper()
	pool := sandboxtest.Pool(t, dsn)
	defer pool.Close()
	err := pool.QueryRow(context.Background(), `SELECT count(*)::text FROM pg_class WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname = 'jobtop')`).Scan(&tables)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}
