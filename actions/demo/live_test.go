package demo

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

// TestLive runs a demo until everything has been seen that it promises to show, in jobs that
// it made since its start: the past has all of it anyway. It promises that within a minute,
// and a busy machine may take longer.
func TestLive(t *testing.T) {
	t.Parallel()
	began := time.Now()
	d, err := Start(t.Context(), testOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("started in %s", time.Since(began).Round(time.Millisecond))
	scenario := MakePast(testOptions.Seed, testOptions.Rate).Scenario
	live := func(id string) bool {
		k, number, ok := parseID(id)
		return ok && number >= scenario.First[k.Name]
	}

	missing := map[string]bool{
		"stuck: no heartbeat": true, "stuck: no progress": true, "late receipt": true, "receipt conflict": true,
		"an operator's act": true, "two source versions": true, "five error categories": true, "paused kind waits": true,
	}
	for _, state := range actions.States() {
		missing["state "+string(state)] = true
	}
	for _, verdict := range []string{store.VerdictHappened, store.VerdictMayHaveHappened, store.VerdictNotKnown, store.VerdictDidNotHappen, store.VerdictNeverStarted} {
		missing["verdict "+verdict] = true
	}
	pool := sandboxtest.Pool(t, d.DSN()) // the operator may read all of this
	versions, categories := map[string]bool{}, map[string]bool{}
	deadline := time.Now().Add(5 * time.Minute)
	for len(missing) > 0 {
		rows, err := pool.Query(t.Context(), `
			select j.id, j.kind, j.state, e.verdict, coalesce(e.late, false) as late, coalesce(j.error_category, '') as category, coalesce(j.source_version, '') as version,
			       j.state = 'running' and now() > heartbeat_at + heartbeat_timeout as silent,
			       j.state = 'running' and now() <= heartbeat_at + heartbeat_timeout and coalesce(now() > coalesce(progress_at, claimed_at) + progress_timeout, false) as idle,
			       exists (select from jobtop.actions a where a.job_id = j.id and a.outcome = 'applied') as acted
			  from jobtop.jobs j, jobtop.evidence(j.id) e where j.created_at > pg_postmaster_start_time()`)
		if err != nil {
			t.Fatal(err)
		}
		type row struct {
			ID, Kind, State, Verdict string
			Late                     bool
			Category, Version        string
			Silent, Idle, Acted      bool
		}
		jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range jobs {
			if !live(j.ID) {
				continue
			}
			versions[j.Version], categories[j.Category] = j.Version != "", j.Category != ""
			for what, is := range map[string]bool{
				"state " + j.State: true, "verdict " + j.Verdict: true,
				"stuck: no heartbeat": j.Silent, "stuck: no progress": j.Idle, "late receipt": j.Late && j.State != "done",
				"receipt conflict": j.Category == "receipt taken", "an operator's act": j.Acted,
				"two source versions": versions["v4.2.0"] && versions["v4.2.1"], "five error categories": len(categories) > 5,
				"paused kind waits": j.Kind == pausedKind && j.State == "pending",
			} {
				if is {
					delete(missing, what)
				}
			}
		}
		select {
		case err := <-d.Failed():
			t.Fatal(err)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("not seen: %q", slices.Sorted(maps.Keys(missing)))
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("all seen within %s of the start", time.Since(began).Round(time.Second))
	if found := contradict(t, sandboxtest.Pool(t, d.server.URL(database))); len(found) > 0 {
		t.Errorf("%d contradictions, such as %q", len(found), found[:min(10, len(found))])
	}

	// The demo's logins have no more rights than they need.
	for dsn, sql := range map[string]string{
		d.DSN():            "update jobtop.jobs set max_attempts = 9",
		d.fleet.config.DSN: "select payload from jobtop.jobs",
	} {
		if _, err := sandboxtest.Pool(t, dsn).Exec(t.Context(), sql); err == nil {
			t.Errorf("%s is allowed", sql)
		}
	}
}
