package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
)

func TestDetail(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	token := uuid.NewString()
	must(ctx, t, pool, `SELECT jobtop.enqueue('j', 'charge', '{"n":1}', source_version => 'v1')`)
	untouched, err := db.Job(ctx, "j")
	if err != nil {
		t.Fatal(err)
	}
	if untouched.ChangedBy != nil || untouched.ChangedHow != nil || untouched.Receipt != nil || untouched.Attempts != nil || untouched.Actions != nil ||
		untouched.LateReports != nil || untouched.Counts != (struct{ Attempts, Actions, LateReports int }{}) || untouched.CreatedAt.IsZero() {
		t.Errorf("%+v", untouched)
	}

	must(ctx, t, pool, `SELECT jobtop.claim('w-1', $1::text::uuid, '{charge}', records_intent => true, source_version => 'v2')`, token)
	must(ctx, t, pool, `CALL jobtop.begin_effect('j', $1::text::uuid)`, token)
	long := strings.Repeat("ß", 100_000)
	must(ctx, t, pool, `SELECT jobtop.fail('j', $1::text::uuid, 'unknown', category => 'provider timeout', detail => $2)`, token, long)
	action := uuid.NewString()
	answer, err := db.Act(ctx, store.ActRequest{ActionID: action, Verb: "done", JobID: "j", SeenState: "review", SeenVersion: 3, Operator: "alice", Reason: "ticket 7", ReceiptID: "r-9",
		Confirmations: []string{"looked up"}, Lookup: []byte(`{"n": 9007199254740993}`), Client: "test"})
	if err != nil || answer.Outcome != "applied" {
		t.Fatal(answer, err)
	}
	must(ctx, t, pool, `SELECT jobtop.complete('j', $1::text::uuid, 'r-late')`, token)

	d, err := db.Job(ctx, "j")
	if err != nil {
		t.Fatal(err)
	}
	if d.Job.State != "done" || *d.Job.ErrorDetail != long || d.Counts.Attempts != 1 || d.Counts.Actions != 1 || d.Counts.LateReports != 1 ||
		*d.ChangedBy != "alice" || *d.ChangedHow != "done" || d.ChangedAt.Before(d.CreatedAt) {
		t.Errorf("%+v", d)
	}
	if r := d.Receipt; r == nil || r.ReceiptID != "r-9" || r.RecordedBy != "alice" || *r.ActionID != action || r.Attempt != 1 || r.JobID != "j" || r.Kind != "charge" || r.RecordedAge <= 0 {
		t.Errorf("%+v", r)
	}
	a := d.Attempts[0]
	if a.Attempt != 1 || a.LockToken != token || a.Worker != "w-1" || *a.SourceVersion != "v2" || a.ClaimedFrom != "pending" || !a.RecordsIntent || a.EffectAge == nil || a.EffectAt == nil ||
		a.HeartbeatAge == nil || a.FinishedAge == nil || *a.Outcome != "unknown" || *a.ToState != "review" || *a.ErrorCategory != "provider timeout" ||
		len([]rune(*a.ErrorDetail)) != store.HistoryErrorLimit || a.ClaimedAge < *a.FinishedAge || !a.ClaimedAt.Before(*a.FinishedAt) {
		t.Errorf("%+v", a)
	}
	act := d.Actions[0]
	if act.ID != action || act.Verb != "done" || *act.JobID != "j" || *act.Kind != "charge" || *act.FromState != "review" || *act.ToState != "done" || *act.SeenState != "review" ||
		*act.SeenVersion != 3 || *act.Version != 4 || *act.Attempt != 1 || act.LockToken != nil || act.Operator != "alice" || act.DBRole != "jobtop" || *act.Client != "test" ||
		*act.Reason != "ticket 7" || !slices.Equal(act.Confirmations, []string{"looked up"}) || string(act.Lookup) != `{"n": 9007199254740993}` || *act.ReceiptID != "r-9" ||
		act.Delay != nil || act.Outcome != "applied" || act.Refusal != nil || act.Age <= 0 {
		t.Errorf("%+v", act)
	}
	if l := d.LateReports[0]; *l.ReceiptID != "r-late" || l.LockToken != token || *l.Attempt != 1 || *l.Worker != "w-1" || l.Effect != nil || l.ErrorDetail != nil || l.Age <= 0 {
		t.Errorf("%+v", l)
	}
	if _, err := db.Job(ctx, "k"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

// Of a long history the newest rows come, with exact counts.
func TestDetailOfALongHistory(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool,
		`INSERT INTO jobtop.jobs (id, kind, effect_key, attempt, max_attempts) VALUES ('j', 'k', 'j', 1200, 1300)`,
		`INSERT INTO jobtop.attempts (job_id, attempt, lock_token, worker, claimed_from, claimed_at, records_intent, finished_at, outcome, to_state, error_detail)
		 SELECT 'j', n, gen_random_uuid(), 'w', 'failed', now(), false, now(), 'refused', 'failed', repeat('x', 20000) FROM generate_series(1, 1200) n`,
		`INSERT INTO jobtop.actions (action_id, verb, job_id, operator, reason, from_state, to_state, version, outcome, at)
		 SELECT gen_random_uuid(), 'requeue', 'j', 'op' || n, 'r', 'failed', 'pending', n, 'applied', now() + n / 4 * interval '1 microsecond' FROM generate_series(1, 700) n`,
		`INSERT INTO jobtop.late_reports (job_id, attempt, lock_token, effect) SELECT 'j', n, gen_random_uuid(), 'unknown' FROM generate_series(1, 600) n`)
	d, err := db.Job(ctx, "j")
	if err != nil {
		t.Fatal(err)
	}
	if d.Counts.Attempts != 1200 || d.Counts.Actions != 700 || d.Counts.LateReports != 600 {
		t.Errorf("%+v", d.Counts)
	}
	if len(d.Attempts) != store.DetailLimit || d.Attempts[0].Attempt != 1200 || d.Attempts[499].Attempt != 701 {
		t.Errorf("%d attempts from %d", len(d.Attempts), d.Attempts[0].Attempt)
	}
	// That on which the verdict rests comes too, however old.
	forge(ctx, t, pool, `UPDATE jobtop.attempts SET outcome = 'unknown', to_state = 'review', effect_at = now(), worker = 'w-old' WHERE job_id = 'j' AND attempt = 3`)
	if again, err := db.Job(ctx, "j"); err != nil || len(again.Attempts) != store.DetailLimit+1 || again.Attempts[store.DetailLimit].Attempt != 3 ||
		again.Attempts[store.DetailLimit].Worker != "w-old" || *again.Job.Evidence.Attempt != 3 || again.Counts.Attempts != 1200 {
		t.Errorf("%d attempts, %v", len(again.Attempts), err)
	}
	if len(d.Actions) != store.DetailLimit || !slices.IsSortedFunc(d.Actions, func(a, b store.Action) int { return b.At.Compare(a.At) }) {
		t.Errorf("%d actions", len(d.Actions))
	}
	if len(d.LateReports) != store.DetailLimit || d.LateReports[0].ID <= d.LateReports[499].ID {
		t.Errorf("%d late reports", len(d.LateReports))
	}
	seen := map[string]bool{}
	q := store.ActionQuery{JobID: "j", Limit: 33}
	for {
		page, err := db.Actions(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Actions {
			seen[a.ID] = true
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if len(seen) != 700 {
		t.Errorf("%d actions by pages", len(seen))
	}
}

func TestPayloads(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	for id, payload := range map[string]*string{
		"none": nil, "null": ptr(`null`), "string": ptr(`"text"`), "number": ptr(`19706705982919822900000000001`), "array": ptr(`[1, {"a": null}]`),
		"object": ptr(`{"x": 0.10, "id": 1970670598291982290}`), "bool": ptr(`false`),
	} {
		must(ctx, t, pool, `SELECT jobtop.enqueue($1, 'k', $2::text::jsonb)`, id, payload)
		got, err := db.Payload(ctx, id)
		if err != nil || (payload == nil) != (got == nil) || (payload != nil && string(got) != *payload) {
			t.Errorf("%s: %s, %v", id, got, err)
		}
	}
	if _, err := db.Payload(ctx, "no such"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}

func ptr[T any](value T) *T { return &value }

func TestReceipts(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	if got, err := db.Receipts(ctx, 5); err != nil || got != nil {
		t.Error(got, err)
	}
	sharing(ctx, t, pool, 60)
	got, err := db.Receipts(ctx, 4)
	if err != nil || len(got) != 4 || !slices.IsSortedFunc(got, func(a, b store.Receipt) int { return b.RecordedAt.Compare(a.RecordedAt) }) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestActionsByConditions(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, `INSERT INTO jobtop.actions (action_id, verb, job_id, kind, operator, reason, from_state, to_state, version, outcome, refusal, at) VALUES
		('00000000-0000-4000-8000-000000000001', 'hold', 'j', 'a', 'alice', 'r', 'failed', 'review', 2, 'applied', NULL, now() - interval '3 hours'),
		('00000000-0000-4000-8000-000000000002', 'dead', 'j', 'a', 'bob', 'r', 'failed', NULL, NULL, 'refused', 'changed', now() - interval '2 hours'),
		('00000000-0000-4000-8000-000000000003', 'pause', NULL, 'b', 'bob', 'r', NULL, NULL, NULL, 'applied', NULL, now() - interval '1 hour'),
		('00000000-0000-4000-8000-000000000004', 'retention', NULL, NULL, 'cron', 'r', NULL, NULL, NULL, 'applied', NULL, now()),
		('00000000-0000-4000-8000-000000000005', 'done', 'k', NULL, 'alice', NULL, NULL, NULL, NULL, 'void', NULL, now() + interval '1 hour')`)
	for _, c := range []struct {
		query store.ActionQuery
		want  string
	}{
		{store.ActionQuery{}, "54321"},
		{store.ActionQuery{JobID: "j"}, "21"},
		{store.ActionQuery{JobID: "J"}, ""},
		{store.ActionQuery{Kind: "a"}, "21"},
		{store.ActionQuery{Kind: "b"}, "3"},
		{store.ActionQuery{Operator: "bob"}, "32"},
		{store.ActionQuery{Operator: "bob", JobID: "j"}, "2"},
		{store.ActionQuery{Outcome: "void"}, "5"},
		{store.ActionQuery{Outcome: "applied"}, "431"},
		{store.ActionQuery{Verb: "dead"}, "2"},
		{store.ActionQuery{Verb: "pause", Operator: "bob"}, "3"},
		{store.ActionQuery{Verb: "requeue"}, ""},
		{store.ActionQuery{Since: 90 * time.Minute}, "543"},
		{store.ActionQuery{Since: 90 * time.Minute, JobID: "j"}, ""},
	} {
		for _, limit := range []int{0, 1, 2} {
			var got string
			q := c.query
			q.Limit = limit
			for {
				page, err := db.Actions(ctx, q)
				if err != nil || page.Limited {
					t.Fatal(page, err)
				}
				for _, a := range page.Actions {
					got += a.ID[35:]
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			if got != c.want {
				t.Errorf("%+v by pages of %d: %q, not %q", c.query, limit, got, c.want)
			}
		}
	}
	page, err := db.Actions(ctx, store.ActionQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := db.Jobs(ctx, store.JobQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []store.ActionQuery{{Outcome: "lost"}, {Verb: "kill"}, {After: page.Next, Verb: "dead"}, {After: "x"}, {After: page.Next, Operator: "bob"}, {After: jobs.Next + "e30"}} {
		if _, err := db.Actions(ctx, q); !errors.Is(err, store.ErrBadQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	var known string
	if err := pool.QueryRow(ctx, "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'known_verb'").Scan(&known); err != nil {
		t.Fatal(err)
	}
	for _, verb := range store.ActionVerbs() {
		if !strings.Contains(known, "'"+verb+"'") || strings.Count(known, "::text,") != len(store.ActionVerbs())-1 {
			t.Errorf("the schema knows other verbs than %v: %s", store.ActionVerbs(), known)
			break
		}
	}
	if a := page.Actions[0]; a.Age > -59*time.Minute {
		t.Errorf("an action of the future is %v old", a.Age)
	}
}

func TestPauseRequests(t *testing.T) {
	t.Parallel()
	db, _, ctx := fresh(t)
	r := store.PauseRequest{ActionID: uuid.NewString(), Kind: "mail", Operator: "alice", Reason: "provider down", For: time.Hour, Client: "test"}
	for range 2 { // the second time as after a lost answer
		if paused, err := db.Pause(ctx, r); err != nil || !paused {
			t.Fatal(paused, err)
		}
	}
	p, err := db.Poll(ctx)
	if err != nil || len(p.Paused) != 1 || p.Paused[0].Kind != "mail" || p.Paused[0].Reason != "provider down" {
		t.Fatalf("%+v, %v", p.Paused, err)
	}
	near(t, "end", p.Paused[0].EndsIn, time.Hour)
	r.ActionID, r.Reason = uuid.NewString(), "back"
	for range 2 {
		if was, err := db.Resume(ctx, r); err != nil || !was {
			t.Fatal(was, err)
		}
	}
	r.ActionID = uuid.NewString()
	if was, err := db.Resume(ctx, r); err != nil || was {
		t.Error(was, err)
	}
	r.Reason = ""
	_, err = db.Pause(ctx, r)
	if unknown := (*store.UnknownError)(nil); err == nil || errors.As(err, &unknown) {
		t.Error(err)
	}
	if p, err = db.Poll(ctx); err != nil || p.Paused != nil {
		t.Errorf("%+v, %v", p.Paused, err)
	}
}
