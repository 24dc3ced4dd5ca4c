package store_test

import (
	"fmt"
	"testing"

	"jobtop/store"
)

// TestContradictions plants each kind past the guard, beside jobs in every sound state.
func TestContradictions(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	l := `SELECT jobtop.enqueue(id, 'charge') FROM unnest('{pending,running,failed,dead,review,done,held,back,byhand}'::text[]) id`
	must(ctx, t, pool, l)
	token := newToken()
	must(ctx, t, pool, `SELECT jobtop.claim('w', $1::text::uuid, '{charge}', 100, true)`, token)
	for _, call := range []string{
		`fail('failed', %s, 'refused')`, `fail('dead', %s, 'refused', false)`, `fail('review', %s, 'unknown')`, `complete('done', %s, 'r')`,
		`fail('held', %s, 'refused')`, `fail('back', %s, 'unknown')`, `fail('pending', %s, 'unknown')`,
	} {
		must(ctx, t, pool, "SELECT jobtop."+fmt.Sprintf(call, "'"+token+"'"))
	}
	for _, act := range []string{`'hold', 'held', 'failed'`, `'requeue', 'back', 'review'`, `'requeue', 'pending', 'review'`} {
		must(ctx, t, pool, `SELECT jobtop.act(gen_random_uuid(), `+act+`, 3, 'ada', 'a test', confirmations => '{may_have_happened}')`)
	}
	must(ctx, t, pool, `UPDATE jobtop.jobs SET state = 'review' WHERE id = 'byhand'`)
	found, looked, err := db.ContradictionsNow(ctx)
	if err != nil || len(found) != 0 || looked == 0 {
		t.Fatalf("sound jobs contradict themselves: %+v (%d looked at, %v)", found, looked, err)
	}

	for problem, plant := range map[string]string{
		store.DoneWithoutReceipt:    `DELETE FROM jobtop.receipts WHERE job_id = 'done'`,
		store.ReceiptWithoutDone:    `INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ('review', 'charge', 'x', 1, 'w')`,
		store.RunningWithoutAttempt: `UPDATE jobtop.attempts SET finished_at = now(), outcome = 'refused', to_state = 'running' WHERE job_id = 'running'`,
		store.AttemptLeftOpen:       `UPDATE jobtop.attempts SET finished_at = NULL, outcome = NULL, to_state = NULL WHERE job_id = 'failed'`,
		store.AttemptsOutOfStep:     `UPDATE jobtop.jobs SET attempt = 2 WHERE id = 'held'`,
		store.StateUnexplained:      `UPDATE jobtop.jobs SET state = 'dead' WHERE id = 'back'`,
	} {
		before := contradictionsOf(t, db)
		forge(ctx, t, pool, plant)
		after := contradictionsOf(t, db)
		if len(after) != len(before)+1 || after[problem] != before[problem]+1 {
			t.Errorf("%s: %v became %v", problem, before, after)
		}
	}
}

// contradictionsOf counts, on a walk over all jobs, how many there are of each kind.
func contradictionsOf(t *testing.T, db *store.DB) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for after := ""; ; {
		found, next, _, err := db.ContradictionsAfter(bounded(t), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			counts[c.Problem]++
		}
		if next == "" {
			return counts
		}
		after = next
	}
}

// TestContradictionsWalkAllJobs: chunk by chunk, none left out.
func TestContradictionsWalkAllJobs(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key) SELECT 'job-' || i, 'k', 'e' || i FROM generate_series(1, 5003) i`)
	forge(ctx, t, pool, `UPDATE jobtop.jobs SET state = 'dead' WHERE id IN ('job-1', 'job-2500', 'job-5003')`)
	chunks, looked, found := 0, 0, 0
	for after := ""; ; {
		some, next, n, err := db.ContradictionsAfter(ctx, after)
		if err != nil {
			t.Fatal(err)
		}
		chunks, looked, found = chunks+1, looked+n, found+len(some)
		if next == "" {
			break
		}
		after = next
	}
	if chunks != 3 || looked != 5003 || found != 3 {
		t.Errorf("%d chunks, %d jobs, %d contradictions", chunks, looked, found)
	}
}
