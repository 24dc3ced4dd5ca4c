package demo

import (
	"context"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

//go:embed testdata/contradictions.sql
var contradictions string

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

// contradict returns the rows that contradict others.
func contradict(t *testing.T, db querier) []string {
	t.Helper()
	rows, err := db.Query(t.Context(), contradictions)
	if err != nil {
		t.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var what, which string
		err := row.Scan(&what, &which)
		return what + ": " + which, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// doctorFindsNothing asks jobtop's own doctor about every job.
func doctorFindsNothing(t *testing.T, dsn string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := 0
	for after, more := "", true; more; more = after != "" {
		found, next, looked, err := db.ContradictionsAfter(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			t.Errorf("the doctor finds %+v", found[0])
		}
		after, all = next, all+looked
	}
	if all < 1000 {
		t.Errorf("the doctor looked at %d jobs", all)
	}
}

// contradictedBy tells what contradicts after a statement that is not kept.
func contradictedBy(t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, s := range []string{"set local session_replication_role = replica", sql} {
		if _, err := tx.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return contradict(t, tx)
}

// column reads one column as text.
func column(t *testing.T, pool *pgxpool.Pool, sql string) map[string]bool {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, v := range values {
		set[v] = true
	}
	return set
}

func TestPast(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Server(t, sandbox.Options{})
	for _, seed := range []uint64{7, 8} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			name := fmt.Sprintf("past_%d", seed)
			if err := s.CreateDatabase(t.Context(), name, sandbox.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := store.ApplySchema(t.Context(), s.URL(name)); err != nil {
				t.Fatal(err)
			}
			past := MakePast(seed, 2)
			if err := s.InsertHistory(t.Context(), name, past.History); err != nil {
				t.Fatal(err)
			}
			pool := sandboxtest.Pool(t, s.URL(name))
			if found := contradict(t, pool); len(found) > 0 {
				t.Errorf("%d contradictions, such as %q", len(found), found[:min(10, len(found))])
			}
			doctorFindsNothing(t, s.URL(name))

			states := column(t, pool, "select distinct state from jobtop.jobs")
			for _, state := range actions.States() {
				if !states[string(state)] {
					t.Errorf("no job is %s", state)
				}
			}
			verdicts := column(t, pool, "select distinct e.verdict from jobtop.jobs j, jobtop.evidence(j.id) e where j.state = 'review'")
			verdicts[store.VerdictDidNotHappen] = column(t, pool, "select distinct e.verdict from jobtop.jobs j, jobtop.evidence(j.id) e where j.state = 'dead'")[store.VerdictDidNotHappen]
			for _, verdict := range []string{store.VerdictHappened, store.VerdictMayHaveHappened, store.VerdictNotKnown, store.VerdictDidNotHappen, store.VerdictNeverStarted} {
				if !verdicts[verdict] {
					t.Errorf("nothing for a person with the verdict %s", verdict)
				}
			}
			// Before its end, which by now may be some time ago.
			minutes := column(t, pool, `select extract(epoch from latest - recorded_at)::int / 60 || '' from jobtop.receipts, (select max(recorded_at) as latest from jobtop.receipts) m
				where recorded_at > latest - '40 minutes'::interval`)
			if len(minutes) < 40 {
				t.Errorf("something was done in %d of the last 40 minutes", len(minutes))
			}
			// The provider knows what happened: each receipt, and what nobody heard of.
			for _, r := range past.History.Receipts {
				if past.Effects[r.JobID].ReceiptID != r.ReceiptID {
					t.Fatalf("%s has the receipt %s and the provider says %s", r.JobID, r.ReceiptID, past.Effects[r.JobID].ReceiptID)
				}
			}
			if past.Effects["charge-10442"].ReceiptID == "" {
				t.Error("charge-10442 is in review and the provider does not know it, so that no lookup leads to done")
			}

			// The check itself finds what contradicts.
			for sql, want := range map[string]string{
				"delete from jobtop.receipts where job_id = (select min(job_id) from jobtop.receipts)":              "done without a receipt: charge-10441",
				"update jobtop.jobs set version = 9 where id = 'charge-10442'":                                      "version does not count the changes: charge-10442",
				"update jobtop.attempts set outcome = 'refused', to_state = 'failed' where job_id = 'charge-10442'": "state is not where the last change led: charge-10442",
				"delete from jobtop.actions where job_id = 'invoice-88121'":                                         "fenced attempt without an action: invoice-88121",
				"update jobtop.late_reports set at = at - '1 hour'::interval where job_id = 'invoice-88121'":        "late report of an attempt that was not fenced: invoice-88121",
			} {
				if found := contradictedBy(t, pool, sql); !slices.Contains(found, want) {
					t.Errorf("after %s the check finds %q, want %q", sql, found, want)
				}
			}
		})
	}
}

func TestPastIsRepeatable(t *testing.T) {
	t.Parallel()
	a, b := MakePast(7, 2), MakePast(7, 2)
	if !reflect.DeepEqual(a, b) {
		t.Error("one seed makes two pasts")
	}
	if c := MakePast(8, 2); reflect.DeepEqual(a.History, c.History) {
		t.Error("two seeds make one past")
	}
	for _, rate := range []float64{0.01, MaxRate} {
		if n := len(MakePast(7, rate).History.Jobs); n < 50 || n > 10_000 {
			t.Errorf("at %g jobs a second the past has %d jobs", rate, n)
		}
	}
}

// TestNothingTakenTwice: what the live jobs get is not in the past.
func TestNothingTakenTwice(t *testing.T) {
	t.Parallel()
	past := MakePast(7, 2)
	for _, j := range past.History.Jobs {
		if k, number, ok := parseID(j.ID); !ok || number >= past.Scenario.First[k.Name] {
			t.Errorf("%s is a live job's id", j.ID)
		}
	}
	receipts := map[string]bool{}
	for _, e := range past.Effects {
		receipts[e.ReceiptID] = true
	}
	for _, k := range Kinds {
		if id := fmt.Sprintf("%s_%d", k.Receipt, past.NextReceipt[k.Name]); receipts[id] {
			t.Errorf("%s is a live job's receipt", id)
		}
	}
}
