package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// told is a record with a row in every table of history.
func told(t *testing.T) *ledger {
	l := newLedger(t)
	first := l.take("done", true)
	l.stop("done")
	l.act("done", "requeue", "may_have_happened")
	second, _ := l.claim(1)
	l.complete("done", second, "r")
	l.fail("done", first, "unknown", true)
	l.take("running", false)
	return l
}

// TestGuardHistoryNeverChanges: actions, receipts, late reports and finished attempts
// cannot be updated, in any column, by nobody; an open attempt only by the functions.
func TestGuardHistoryNeverChanges(t *testing.T) {
	t.Parallel()
	l := told(t)
	ctx := context.Background()
	for _, table := range []string{"actions", "receipts", "late_reports", "attempts"} {
		rows, err := l.pool.Query(ctx, `SELECT a.attname FROM pg_attribute a WHERE a.attrelid = ('jobtop.' || $1)::regclass AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attidentity = ''`, table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if len(columns) < 5 {
			t.Fatalf("jobtop.%s has the columns %q", table, columns)
		}
		finished := ""
		if table == "attempts" {
			finished = " WHERE finished_at IS NOT NULL"
		}
		for _, column := range columns {
			update := fmt.Sprintf(`UPDATE jobtop.%s SET %s = %[2]s%[3]s`, table, column, finished)
			l.refused("JT005", update)
			l.refused("JT005", "SET ROLE jobtop_owner; "+update)
			l.refused("JT005", "SET ROLE jobtop_owner; SET jobtop.via = 'complete'; "+update)
		}
	}
	l.refused("JT005", `UPDATE jobtop.attempts SET effect_at = now() WHERE finished_at IS NULL`)
	for _, half := range []string{"outcome = 'done'", "finished_at = now()", "finished_at = now(), outcome = 'unknown'", "finished_at = now(), outcome = 'not_begun', to_state = 'failed', effect_at = now()"} {
		l.refused("23514", `SET ROLE jobtop_owner; UPDATE jobtop.attempts SET `+half+` WHERE finished_at IS NULL`)
	}
	l.refused("JT005", `INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent)
		VALUES ('running', 2, gen_random_uuid(), 'w', 'pending', now(), true)`)
	l.refused("JT005", `INSERT INTO jobtop.actions (action_id, verb, job_id, from_state, to_state, version, operator, reason, outcome)
		VALUES (gen_random_uuid(), 'dead', 'running', 'running', 'dead', 3, 'ada', 'not mine', 'applied')`)
}

// TestGuardRemoval: DELETE and TRUNCATE are refused, to everybody, in every table that
// holds what happened.
func TestGuardRemoval(t *testing.T) {
	t.Parallel()
	l := told(t)
	before := l.everything()
	for _, table := range []string{"jobs", "receipts", "attempts", "actions", "late_reports"} {
		l.refused("JT006", `DELETE FROM jobtop.`+table)
		l.refused("JT006", `SET ROLE jobtop_owner; DELETE FROM jobtop.`+table)
		l.refused("JT006", `SET ROLE jobtop_owner; SET jobtop.via = 'complete'; DELETE FROM jobtop.`+table)
		l.refused("JT006", `TRUNCATE jobtop.`+table+` CASCADE`)
		l.refused("JT006", `SET ROLE jobtop_owner; TRUNCATE jobtop.`+table+` CASCADE`)
	}
	if after := l.everything(); after != before {
		t.Errorf("something is gone:\n%s\n%s", before, after)
	}
}

// TestGuardEdges: no row of edges can lead out of done, name an unknown state, or lead
// nowhere; whoever writes it.
func TestGuardEdges(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for _, role := range []string{"", "SET ROLE jobtop_owner; "} {
		for _, to := range []string{"pending", "running", "failed", "review", "dead"} {
			l.refused("23514", role+fmt.Sprintf(`INSERT INTO jobtop.edges VALUES ('done', '%s', 'operator', 'x')`, to))
		}
		l.refused("23514", role+`UPDATE jobtop.edges SET from_state = 'done' WHERE to_state = 'dead'`)
		l.refused("23514", role+`UPDATE jobtop.edges SET from_state = to_state, to_state = from_state WHERE to_state = 'done'`)
		l.refused("23514", role+`INSERT INTO jobtop.edges VALUES ('review', 'review', 'operator', 'x')`)
		l.refused("23514", role+`INSERT INTO jobtop.edges VALUES ('review', 'gone', 'operator', 'x')`)
		l.refused("23514", role+`INSERT INTO jobtop.edges VALUES ('review', 'running', 'cron', 'x')`)
	}
}

// TestWholeStory: attempts, actions, late reports and the receipt tell a job's whole
// story, in the order in which it happened, with who did each.
func TestWholeStory(t *testing.T) {
	t.Parallel()
	l := told(t)
	detail, err := l.db.Job(context.Background(), "done")
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	for _, a := range detail.Attempts { // newest first
		story = append(story, fmt.Sprintf("attempt %d by %s from %s ended %s as %s", a.Attempt, a.Worker, a.ClaimedFrom, *a.Outcome, *a.ToState))
	}
	for _, a := range detail.Actions {
		story = append(story, fmt.Sprintf("%s by %s from %s to %s: %s", a.Verb, a.Operator, *a.FromState, *a.ToState, *a.Reason))
	}
	for _, r := range detail.LateReports {
		story = append(story, fmt.Sprintf("late report of attempt %d by %s: %s", *r.Attempt, *r.Worker, *r.Effect))
	}
	story = append(story, fmt.Sprintf("receipt %s of attempt %d by %s", detail.Receipt.ReceiptID, detail.Receipt.Attempt, detail.Receipt.RecordedBy))
	want := []string{
		"attempt 2 by w from pending ended done as done",
		"attempt 1 by w from pending ended fenced as review",
		"requeue by ada from review to pending: a test",
		"hold by ada from running to review: a test",
		"late report of attempt 1 by w: unknown",
		"receipt r of attempt 2 by w",
	}
	if strings.Join(story, "\n") != strings.Join(want, "\n") {
		t.Errorf("the story is\n%s\nnot\n%s", strings.Join(story, "\n"), strings.Join(want, "\n"))
	}
}

// TestGuardFollowsTheEdges: what jobtop.edges says is what the guard goes by, from the same
// transaction on.
func TestGuardFollowsTheEdges(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.exec(`SELECT jobtop.enqueue('job', 'charge')`)
	hold := `UPDATE jobtop.jobs SET state = 'review' WHERE id = 'job'`
	edge := `FROM jobtop.edges WHERE from_state = 'pending' AND to_state = 'review'`
	l.exec(`CREATE TABLE public.taken AS SELECT * ` + edge)
	l.exec(`DELETE ` + edge)
	l.refused("JT001", hold)
	l.refused("JT001", `SET ROLE jobtop_owner; SET jobtop.via = 'act'; `+hold)
	l.exec(`INSERT INTO jobtop.edges SELECT * FROM public.taken`)
	l.exec(hold)
	l.job("job", "review", 0, "never_started")

	l.exec(`TRUNCATE jobtop.edges`)
	l.refused("JT001", `UPDATE jobtop.jobs SET state = 'pending' WHERE id = 'job'`)
}
