package actions

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"jobtop/store"
)

var (
	moment   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // ages count back from here
	receipts = []string{"ch_1", "ch_2", "ch_3"}
)

// drawHistory draws whatever could stand in the tables, likely or not.
func drawHistory(t *rapid.T) History {
	var h History
	n := rapid.IntRange(0, 4).Draw(t, "attempts")
	tokens := []string{uuid.NewString()} // and one that is nobody's
	age := func() time.Duration { return time.Duration(rapid.IntRange(1, 5000).Draw(t, "age")) * time.Second }
	for i := range n {
		a := store.Attempt{Attempt: i + 1, LockToken: uuid.NewString(), RecordsIntent: rapid.Bool().Draw(t, "records intent")}
		if len(tokens) > 1 && rapid.IntRange(0, 5).Draw(t, "same claim") == 0 {
			a.LockToken = tokens[1]
		}
		tokens = append(tokens, a.LockToken)
		if rapid.Bool().Draw(t, "intent") {
			a.EffectAge = ptr(age())
		}
		outcomes := []string{"done", "not_begun", "refused", "unknown", "fenced"}
		if i == n-1 {
			outcomes = append(outcomes, "") // it runs
		}
		outcome := rapid.SampledFrom(outcomes).Draw(t, "outcome")
		if outcome == "not_begun" {
			a.EffectAge = nil
		}
		if outcome != "" {
			a.Outcome = &outcome
		}
		h.Attempts = append(h.Attempts, a)
	}
	if rapid.IntRange(0, 4).Draw(t, "receipt") == 0 {
		h.Receipt = &store.Receipt{ReceiptID: rapid.SampledFrom(receipts).Draw(t, "receipt ID"), RecordedBy: "w-1", RecordedAge: age(),
			Attempt: rapid.IntRange(0, n).Draw(t, "of attempt")}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "late reports") {
		l := store.LateReport{ID: int64(i), LockToken: rapid.SampledFrom(tokens).Draw(t, "token"), Age: age()}
		if rapid.Bool().Draw(t, "known") && n > 0 {
			l.Attempt = ptr(rapid.IntRange(1, n).Draw(t, "late attempt"))
			l.Worker = ptr("w-2")
		}
		if rapid.Bool().Draw(t, "late receipt") {
			l.ReceiptID = ptr(rapid.SampledFrom(receipts).Draw(t, "late receipt ID"))
		} else {
			l.Effect = ptr(rapid.SampledFrom([]string{"not_begun", "refused", "unknown"}).Draw(t, "late effect"))
		}
		h.LateReports = append(h.LateReports, l)
	}
	for _, id := range receipts {
		if rapid.IntRange(0, 2).Draw(t, "taken") == 0 && (h.Receipt == nil || h.Receipt.ReceiptID != id) {
			h.TakenElsewhere = append(h.TakenElsewhere, id)
		}
	}
	return h
}

func ptr[T any](v T) *T { return &v }

// write puts a history into the tables and returns its job.
func (h History) write(l *ledger, tx pgx.Tx) string {
	l.t.Helper()
	ctx := context.Background()
	exec := func(sql string, arguments ...any) {
		l.t.Helper()
		if _, err := tx.Exec(ctx, sql, arguments...); err != nil {
			l.t.Fatalf("%s: %v", sql, err)
		}
	}
	at := func(age *time.Duration) *time.Time {
		if age == nil {
			return nil
		}
		return ptr(moment.Add(-*age))
	}
	n := jobNumber.Add(1)
	id, kind := fmt.Sprintf("charge-%d", n), fmt.Sprintf("card.charge.%d", n)
	job := func(id string) { exec("INSERT INTO jobtop.jobs (id, kind, effect_key) VALUES ($1, $2, $1)", id, kind) }
	job(id)
	for _, a := range h.Attempts {
		if a.Outcome == nil { // until it ends, the job has its intent
			exec("UPDATE jobtop.jobs SET effect_at = $2 WHERE id = $1", id, at(a.EffectAge))
		}
		exec(`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, effect_at, finished_at, outcome, to_state)
		      SELECT $1, $2, $3::text::uuid, 'w-1', 'pending', $4, $5, CASE WHEN o IS NOT NULL THEN $6::timestamptz END, CASE WHEN o IS NOT NULL THEN $4::timestamptz END, o, CASE WHEN o IS NOT NULL THEN 'failed' END
		        FROM (SELECT $7::text) AS x(o)`,
			id, a.Attempt, a.LockToken, moment, a.RecordsIntent, at(a.EffectAge), a.Outcome)
	}
	if r := h.Receipt; r != nil {
		exec("INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at) VALUES ($1, $2, $3, $4, $5, $6)",
			id, kind, r.ReceiptID, r.Attempt, r.RecordedBy, at(&r.RecordedAge))
	}
	for _, r := range h.LateReports {
		exec(`INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, worker, receipt_id, effect, at) VALUES ($1, $2, $3::text::uuid, $4, $5, $6, $7)
		      ON CONFLICT DO NOTHING`, id, r.Attempt, r.LockToken, r.Worker, r.ReceiptID, r.Effect, at(&r.Age))
	}
	for _, taken := range h.TakenElsewhere {
		job(id + taken)
		exec("INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by) VALUES ($1, $2, $3, 1, 'w-3')", id+taken, kind, taken)
	}
	return id
}

// Two programs, one in SQL and one in Go, weigh histories drawn at random alike.
func TestJudgeAgreesWithTheDatabase(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	ctx := context.Background()
	conn, err := base.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	verdicts := map[string]int{}
	checkUntil(t, func() bool { return len(verdicts) == 6 }, func(t *rapid.T) {
		l := base.in(t)
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			t.Fatal(err)
		}
		for _, h := range rapid.SliceOfN(rapid.Custom(drawHistory), 1, 10).Draw(t, "histories") {
			id := h.write(l, tx)
			var e store.Evidence
			var effect, recorded *int64
			var late *bool
			err := tx.QueryRow(ctx, `SELECT verdict, attempt, (extract(epoch FROM $2 - effect_at) * 1000000)::bigint, receipt_id, recorded_by,
			                                (extract(epoch FROM $2 - recorded_at) * 1000000)::bigint, late
			                           FROM jobtop.evidence($1)`, id, moment).
				Scan(&e.Verdict, &e.Attempt, &effect, &e.ReceiptID, &e.RecordedBy, &recorded, &late)
			if err != nil {
				t.Fatal(err)
			}
			e.EffectAge, e.RecordedAge, e.Late = us(effect), us(recorded), late != nil && *late
			if got := Judge(h); describe(got) != describe(e) {
				t.Fatalf("judged\n%s, and the database\n%s", describe(got), describe(e))
			}
			verdicts[Headline(e)]++

			// The order in which things stand there does not matter.
			slices.Reverse(h.Attempts)
			slices.Reverse(h.LateReports)
			if got := Judge(h); describe(got) != describe(e) {
				t.Fatalf("the other way round judged\n%s, and the database\n%s", describe(got), describe(e))
			}
		}
	})
	for _, headline := range []string{"HAPPENED", "HAPPENED (LATE)", "MAY HAVE HAPPENED", "NOT KNOWN", "DID NOT HAPPEN", "NEVER STARTED"} {
		if verdicts[headline] == 0 {
			t.Errorf("no history was %s: %v", headline, verdicts)
		}
	}
}

func describe(e store.Evidence) string {
	show := func(v any) string {
		switch v := v.(type) {
		case *int:
			if v != nil {
				return fmt.Sprint(*v)
			}
		case *string:
			if v != nil {
				return *v
			}
		case *time.Duration:
			if v != nil {
				return v.String()
			}
		}
		return "-"
	}
	return fmt.Sprintf("%s, attempt %s, effect %s ago, receipt %s by %s %s ago, late %v",
		e.Verdict, show(e.Attempt), show(e.EffectAge), show(e.ReceiptID), show(e.RecordedBy), show(e.RecordedAge), e.Late)
}
