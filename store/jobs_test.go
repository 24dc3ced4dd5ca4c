package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
)

// where makes conditions of terms such as kind:a or !kind:a.
func where(terms ...string) []store.Condition {
	var list []store.Condition
	for _, term := range terms {
		field, value, _ := strings.Cut(term, ":")
		list = append(list, store.Condition{Field: strings.TrimPrefix(field, "!"), Value: value, Not: strings.HasPrefix(field, "!")})
	}
	return list
}

// all reads every page of a query and returns the ids in their order.
func all(ctx context.Context, t testing.TB, db *store.DB, q store.JobQuery) []string {
	t.Helper()
	var ids []string
	for range 1000 {
		page, err := db.Jobs(ctx, q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		for _, job := range page.Jobs {
			ids = append(ids, job.ID)
		}
		if page.Next == "" {
			return ids
		}
		q.After = page.Next
	}
	t.Fatalf("%+v has no end", q)
	return nil
}

func TestJobsByConditions(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, zoo...)
	for _, c := range []struct {
		terms string
		want  string // in the natural order
	}{
		{"", "lost, uncertain, due, idle, silent, alive, never moved, due again, backing off, later, never"},
		{"state:review", "uncertain"},
		{"state:review state:dead", "lost, uncertain"},
		{"!state:running !state:pending", "lost, uncertain, due again, backing off"},
		{"state:dead !state:dead", ""},
		{"state:done", "paid"},
		{"state:done kind:a", ""},
		{"state:running kind:a", "silent, alive"},
		{"kind:a !worker:w-1", "due, silent, later"}, // those without any worker too
		{"worker:", "lost, due, later, never"},
		{"!worker:", "uncertain, idle, silent, alive, never moved, due again, backing off"},
		{"error:timeout", "due again, backing off"},
		{"error:timeout error:refused", "lost, due again, backing off"},
		{"!error:timeout !error:", "lost, uncertain"},
		{"version:v1", ""},
		{"!version:v1 state:review", "uncertain"},
		{"verdict:may_have_happened", "uncertain"},
		{"verdict:did_not_happen", "due again"},
		{"verdict:happened", "lost"},
		{"verdict:happened state:done", "paid"},
		{"verdict:not_known", "alive"},
		{"!verdict:never_started", "lost, uncertain, alive, due again"},
		{"age:2h30m", "lost, uncertain, due, idle"},
		{"age:2h30m !age:1d", "uncertain, due, idle"},
		{"age:1d state:done", "paid"},
		{"age:3d state:done", ""},
		{"id:paid", "paid"},
		{"id:paid state:review", ""},
		{"id:paid id:lost id:none", "lost, paid"},
		{"id:n*", "never, never moved"},
		{"id:*", "alive, backing off, due, due again, idle, later, lost, never, never moved, paid, silent, uncertain"},
		{"id:n* state:running", "never moved"},
		{"id:n* id:i* state:running", "idle, never moved"},
		{"!id:n* state:running", "idle, silent, alive"},
		{"!id:alive state:running", "idle, silent, never moved"},
		{"effect:paid", "paid"},
		{"effect:z", "uncertain"},
		{"effect:z id:paid", ""},
		{"!effect:z !effect:lost !state:running !state:pending", "due again, backing off"},
		{"receipt:r-1", "paid"},
		{"receipt:late-1", "lost"},
		{"!receipt:late-1 !state:running !state:pending", "uncertain, due again, backing off"},
		{"receipt:r-1 kind:a", ""},
		{"effect:none", ""},
	} {
		for _, limit := range []int{0, 1, 3} {
			got := strings.Join(all(ctx, t, db, store.JobQuery{Conditions: where(strings.Fields(c.terms)...), Limit: limit}), ", ")
			if got != c.want {
				t.Errorf("%q by pages of %d: %q, not %q", c.terms, limit, got, c.want)
			}
		}
	}
}

func TestStuckJobs(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, zoo...)
	for _, c := range []struct {
		order store.Order
		want  string
	}{
		{"", "silent, idle, never moved"},
		{store.WorstFirst, "silent, idle, never moved"},
		{store.OldestFirst, "idle, silent, never moved"},
		{store.NewestFirst, "never moved, silent, idle"},
		{store.ByID, "idle, never moved, silent"},
	} {
		for _, limit := range []int{0, 1} {
			if got := strings.Join(all(ctx, t, db, store.JobQuery{Stuck: true, Order: c.order, Limit: limit}), ", "); got != c.want {
				t.Errorf("%q by pages of %d: %q, not %q", c.order, limit, got, c.want)
			}
		}
	}
	if got := all(ctx, t, db, store.JobQuery{Stuck: true, Conditions: where("state:review")}); got != nil {
		t.Error(got)
	}
	page, err := db.Jobs(ctx, store.JobQuery{Stuck: true, Conditions: where("worker:w-2")})
	if err != nil || len(page.Jobs) != 2 || page.Order != store.WorstFirst || page.Limited {
		t.Fatalf("%+v, %v", page, err)
	}
	near(t, "past its heartbeat", page.Jobs[0].StuckFor, time.Hour)
	near(t, "past its progress", page.Jobs[1].StuckFor, 30*time.Minute)
}

func TestRowOfAJob(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, append(zoo, `UPDATE jobtop.jobs SET heartbeat_at = now() + interval '1 hour', source_version = 'v4' WHERE id = 'alive'`)...)
	row := func(id string) store.Job {
		t.Helper()
		job, err := db.Row(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		page, err := db.Jobs(ctx, store.JobQuery{Conditions: []store.Condition{{Field: "id", Value: id}}})
		if err != nil || len(page.Jobs) != 1 || page.Jobs[0].ID != id || page.Jobs[0].Evidence.Verdict != job.Evidence.Verdict {
			t.Errorf("listed as %+v, %v", page, err)
		}
		return job
	}

	alive := row("alive")
	near(t, "heartbeat after the clock went back", alive.HeartbeatAge, -time.Hour)
	near(t, "claim", alive.ClaimedAge, time.Hour)
	near(t, "in its state", &alive.StateAge, time.Hour)
	if alive.StuckFor != nil || alive.LockToken == nil || *alive.Worker != "w-1" || alive.Version != 2 || alive.Attempt != 1 || alive.MaxAttempts != 5 ||
		alive.HeartbeatTimeout != 10*time.Minute || *alive.SourceVersion != "v4" || alive.Evidence.Verdict != store.VerdictNotKnown || *alive.Evidence.Attempt != 1 {
		t.Errorf("%+v", alive)
	}
	idle := row("idle")
	if *idle.Progress != 7 || *idle.ProgressTimeout != 90*time.Minute {
		t.Errorf("%+v", idle)
	}
	near(t, "progress", idle.ProgressAge, 2*time.Hour)

	never := row("never")
	if never.DueFor > -99*365*24*time.Hour {
		t.Errorf("due for %v", never.DueFor)
	}
	if never.LockToken != nil || never.Worker != nil || never.ClaimedAge != nil || never.HeartbeatAge != nil || never.Progress != nil || never.ProgressAge != nil ||
		never.ProgressTimeout != nil || never.EffectAge != nil || never.ErrorCategory != nil || never.ErrorDetail != nil || never.SourceVersion != nil ||
		never.StuckFor != nil || never.Evidence != (store.Evidence{Verdict: store.VerdictNeverStarted}) {
		t.Errorf("%+v", never)
	}
	again := row("due again")
	if utf8.RuneCountInString(*again.ErrorDetail) != store.ErrorDetailLimit || again.Evidence.Verdict != store.VerdictDidNotHappen {
		t.Errorf("%+v", again)
	}
	near(t, "due", &again.DueFor, 5*time.Minute)
	uncertain := row("uncertain")
	near(t, "intent", uncertain.Evidence.EffectAge, 5*time.Hour)
	paid := row("paid")
	near(t, "receipt", paid.Evidence.RecordedAge, 48*time.Hour)
	if *paid.Evidence.ReceiptID != "r-1" || *paid.Evidence.RecordedBy != "w-2" || paid.Evidence.Late {
		t.Errorf("%+v", paid.Evidence)
	}
	if lost := row("lost"); !lost.Evidence.Late || *lost.Evidence.ReceiptID != "late-1" {
		t.Errorf("%+v", lost.Evidence)
	}

	_, err := db.Row(ctx, "Paid")
	if !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), `"Paid"`) {
		t.Error(err)
	}
}

// sharing makes jobs in every state, several of which share each moment.
func sharing(ctx context.Context, t *testing.T, pool *pgxpool.Pool, n int) {
	forge(ctx, t, pool,
		fmt.Sprintf(`INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, lock_token, worker, claimed_at, heartbeat_at, state_changed_at)
		 SELECT lpad((i * 7919 %% 100000)::text, 5, '0'), 'k' || i %% 2, 'e' || i, s.state, 1, CASE WHEN s.state = 'running' THEN gen_random_uuid() END, 'w',
		        now() - interval '1 hour', now() - interval '1 hour', timestamptz '2024-02-29 23:59:59.999999+00' + i / 9 * interval '1 microsecond'
		   FROM generate_series(1, %d) i, LATERAL (SELECT (ARRAY['pending', 'running', 'failed', 'review', 'dead', 'done'])[1 + i %% 6] AS state) s`, n),
		`INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
		 SELECT id, kind, 'r' || id, 1, 'w', state_changed_at FROM jobtop.jobs WHERE state = 'done'`)
}

// pagings are the ways to page, and how each is ordered.
var pagings = map[string]struct {
	query store.JobQuery
	sql   string
}{
	"oldest":       {store.JobQuery{}, `state <> 'done' ORDER BY state_changed_at, id`},
	"newest":       {store.JobQuery{Order: store.NewestFirst}, `state <> 'done' ORDER BY state_changed_at DESC, id DESC`},
	"by id":        {store.JobQuery{Order: store.ByID}, `state <> 'done' ORDER BY id`},
	"of a kind":    {store.JobQuery{Conditions: where("kind:k1")}, `state <> 'done' AND kind = 'k1' ORDER BY state_changed_at, id`},
	"of a verdict": {store.JobQuery{Conditions: where("verdict:never_started", "state:dead")}, `state = 'dead' ORDER BY state_changed_at, id`},
	"done":         {store.JobQuery{Conditions: where("state:done")}, `state = 'done' ORDER BY state_changed_at DESC, id DESC`},
	"done oldest":  {store.JobQuery{Conditions: where("state:done"), Order: store.OldestFirst}, `state = 'done' ORDER BY state_changed_at, id`},
	"prefix":       {store.JobQuery{Conditions: where("id:0*")}, `id LIKE '0%' ORDER BY id`},
	"everything":   {store.JobQuery{Conditions: where("id:*")}, `true ORDER BY id`},
	"stuck newest": {store.JobQuery{Stuck: true, Order: store.NewestFirst}, `state = 'running' ORDER BY state_changed_at DESC, id DESC`},
	"stuck by id":  {store.JobQuery{Stuck: true, Order: store.ByID}, `state = 'running' ORDER BY id`},
	"keys newest":  {store.JobQuery{Order: store.NewestFirst, Conditions: where("effect:e1", "effect:e2", "effect:e3", "effect:e40", "effect:e41")}, `effect_key = ANY ('{e1,e2,e3,e40,e41}') ORDER BY state_changed_at DESC, id`},
	"keys by id":   {store.JobQuery{Order: store.ByID, Conditions: where("effect:e1", "effect:e2", "effect:e3", "effect:e40")}, `effect_key = ANY ('{e1,e2,e3,e40}') ORDER BY id`},
}

func TestPagesMeetExactly(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	sharing(ctx, t, pool, 200)
	for name, p := range pagings {
		var want []string
		if err := pool.QueryRow(ctx, `SELECT array_agg(id) FROM (SELECT id FROM jobtop.jobs WHERE `+p.sql+`) ordered`).Scan(&want); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{1, 7, len(want), 1000} {
			p.query.Limit = limit
			if got := all(ctx, t, db, p.query); !slices.Equal(got, want) {
				t.Errorf("%s by pages of %d:\n%v, not\n%v", name, limit, got, want)
			}
		}
	}
}

// The worst first stays in order although everything gets older from page to page, and
// between jobs that passed their limits in one moment.
func TestPagesOfTheWorstMeetExactly(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	sharing(ctx, t, pool, 300)
	forge(ctx, t, pool, `UPDATE jobtop.jobs SET heartbeat_at = timestamptz '2024-03-31 00:00:00.000001+00' + (substr(id, 1, 2)::integer % 5) * interval '1 microsecond' WHERE state = 'running'`)
	var want []string
	if err := pool.QueryRow(ctx, `SELECT array_agg(id) FROM (SELECT id FROM jobtop.jobs WHERE state = 'running' ORDER BY heartbeat_at, id) ordered`).Scan(&want); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, 7, len(want)} {
		if got := all(ctx, t, db, store.JobQuery{Stuck: true, Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("by pages of %d:\n%v, not\n%v", limit, got, want)
		}
	}
}

// While jobs come, go and change between the pages, those that stay as they are turn up
// once each.
func TestPagesWhileJobsChange(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	for name, p := range pagings {
		if strings.HasPrefix(name, "keys") {
			continue // all there are, by name
		}
		t.Run(name, func(t *testing.T) {
			forge(ctx, t, pool, `DELETE FROM jobtop.receipts`, `DELETE FROM jobtop.jobs`)
			sharing(ctx, t, pool, 200)
			var before []string
			if err := pool.QueryRow(ctx, `SELECT array_agg(id) FROM (SELECT id FROM jobtop.jobs WHERE `+p.sql+`) ordered`).Scan(&before); err != nil {
				t.Fatal(err)
			}
			seen := map[string]int{}
			q := p.query
			q.Limit = 10
			for round := 0; ; round++ {
				page, err := db.Jobs(ctx, q)
				if err != nil {
					t.Fatal(err)
				}
				for _, job := range page.Jobs {
					seen[job.ID]++
				}
				if page.Next == "" {
					break
				}
				q.After = page.Next
				// The job at the cursor itself goes, others come before and after it.
				forge(ctx, t, pool,
					fmt.Sprintf(`UPDATE jobtop.jobs SET state = 'dead', lock_token = NULL, state_changed_at = now() WHERE id = '%s' AND state <> 'done'`, page.Jobs[len(page.Jobs)-1].ID),
					fmt.Sprintf(`INSERT INTO jobtop.jobs (id, kind, effect_key, state_changed_at) SELECT n || '-new-%d', 'k1', n, timestamptz '2024-02-29 23:59:59.999999+00' + n::integer * interval '1 microsecond' FROM unnest('{0,5,9}'::text[]) n`, round))
			}
			for _, id := range before {
				var moved bool
				if err := pool.QueryRow(ctx, `SELECT state_changed_at > '2025-01-01' FROM jobtop.jobs WHERE id = $1`, id).Scan(&moved); err != nil {
					t.Fatal(err)
				}
				if !moved && seen[id] != 1 {
					t.Errorf("%s turned up %d times", id, seen[id])
				}
			}
		})
	}
}

var hostile = []string{
	"a", "a b", " a", "a ", "a'b", `a"b`, "a\nb", "a%b", "a_b", "axb", `a\b`, `a\`, "a*b", "a*", "%", "_", `\`, "*", "'; DROP TABLE jobtop.jobs; --", "$1", "@id",
	"Ärger", "ärger", "\u202egnp.exe", "\x1b[31mred", strings.Repeat("x", 512), strings.Repeat("𝄞", 512), "{a,b}", "NULL", "\u00a0",
}

func TestHostileIDs(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	for _, id := range hostile {
		must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key, payload) VALUES ($1::text, 'k', 'e' || left($1::text, 500), to_jsonb($1::text))`, id)
	}
	sorted := slices.Sorted(slices.Values(hostile)) // by bytes, as the C collation does
	for _, limit := range []int{1, 5} {
		if got := all(ctx, t, db, store.JobQuery{Conditions: where("id:*"), Limit: limit}); !slices.Equal(got, sorted) {
			t.Errorf("by pages of %d:\n%q, not\n%q", limit, got, sorted)
		}
		got := all(ctx, t, db, store.JobQuery{Limit: limit})
		if slices.Sort(got); !slices.Equal(got, sorted) {
			t.Errorf("by pages of %d:\n%q, not\n%q", limit, got, sorted)
		}
	}
	for _, id := range hostile {
		job, err := db.Row(ctx, id)
		if err != nil || job.ID != id {
			t.Errorf("%q: %q, %v", id, job.ID, err)
		}
		if detail, err := db.Job(ctx, id); err != nil || detail.Job.ID != id {
			t.Errorf("%q: %q, %v", id, detail.Job.ID, err)
		}
		if payload, err := db.Payload(ctx, id); err != nil || len(payload) < 3 {
			t.Errorf("%q: %s, %v", id, payload, err)
		}
		begins := func(other string) bool { return !strings.HasPrefix(other, id) }
		want := slices.DeleteFunc(slices.Clone(sorted), begins)
		for _, terms := range [][]store.Condition{
			{{Field: "id", Value: id + "*"}},
			{{Field: "id", Value: id + "*"}, {Field: "state", Value: "pending"}},
		} {
			got := all(ctx, t, db, store.JobQuery{Conditions: terms})
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%+v: %q, not %q", terms, got, want)
			}
		}
		not := all(ctx, t, db, store.JobQuery{Conditions: []store.Condition{{Field: "id", Value: id + "*", Not: true}}})
		if len(not) != len(hostile)-len(want) {
			t.Errorf("not %q: %q", id, not)
		}
		if !strings.HasSuffix(id, "*") {
			if got := all(ctx, t, db, store.JobQuery{Conditions: []store.Condition{{Field: "id", Value: id}}}); !slices.Equal(got, []string{id}) {
				t.Errorf("%q: %q", id, got)
			}
		}
	}
	for _, id := range []string{"", "\x00", "a\x00", "\xff", "no such"} {
		if _, err := db.Row(ctx, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestQueriesThatSayNothing(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	forge(ctx, t, pool, zoo...)
	page, err := db.Jobs(ctx, store.JobQuery{Limit: 2})
	if err != nil || page.Next == "" {
		t.Fatal(page, err)
	}
	more, err := db.Jobs(ctx, store.JobQuery{Limit: 3, After: page.Next})
	if err != nil || len(more.Jobs) != 3 {
		t.Errorf("another number of rows: %+v, %v", more, err)
	}
	for _, c := range []struct {
		query store.JobQuery
		kind  error
	}{
		{store.JobQuery{After: "nonsense"}, store.ErrBadQuery},
		{store.JobQuery{After: "e30"}, store.ErrBadQuery},
		{store.JobQuery{After: page.Next[1:]}, store.ErrBadQuery},
		{store.JobQuery{After: page.Next, Order: store.NewestFirst}, store.ErrBadQuery},
		{store.JobQuery{After: page.Next, Stuck: true}, store.ErrBadQuery},
		{store.JobQuery{After: page.Next, Conditions: where("kind:a")}, store.ErrBadQuery},
		{store.JobQuery{Order: "sideways"}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("colour:red")}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("state:lost")}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("verdict:perhaps")}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("age:soon")}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("age:-5m")}, store.ErrBadQuery},
		{store.JobQuery{Conditions: where("age:")}, store.ErrBadQuery},
		{store.JobQuery{Order: store.WorstFirst}, store.ErrUnserved},
		{store.JobQuery{Order: store.ByID, Conditions: where("state:done")}, store.ErrUnserved},
		{store.JobQuery{Order: store.NewestFirst, Conditions: where("id:a*")}, store.ErrUnserved},
		{store.JobQuery{Conditions: where("id:a*", "id:b*")}, store.ErrUnserved},
		{store.JobQuery{Conditions: where("state:done", "state:dead")}, store.ErrUnserved},
	} {
		_, err := db.Jobs(ctx, c.query)
		if problem := (*store.Problem)(nil); !errors.Is(err, c.kind) || !errors.As(err, &problem) || problem.Next == "" {
			t.Errorf("%+v: %v", c.query, err)
		}
	}
}

func TestAges(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key, state_changed_at) SELECT h::text, 'k', h::text, now() - h * interval '1 hour' - interval '1 minute' FROM unnest('{-1,0,1,24,25,168,200}'::integer[]) h`)
	for value, want := range map[string]int{
		"0s": 6, "30s": 6, ">59m": 5, "1h": 5, "90m": 4, "1d": 4, "24h30m": 3, "1d1h": 3, "1d2h": 2, "1w": 2, "1w1d": 1, "8d": 1, "400w": 0, "60000w": 0,
	} {
		if got := all(ctx, t, db, store.JobQuery{Conditions: where("age:" + value)}); len(got) != want {
			t.Errorf("age %s: %q, not %d", value, got, want)
		}
		if got := all(ctx, t, db, store.JobQuery{Conditions: where("!age:" + value)}); len(got) != 7-want {
			t.Errorf("not age %s: %q, not %d", value, got, 7-want)
		}
	}
}

// A search goes no further than its bound in one read, says so, and goes on from there.
func TestTheBoundOfASearch(t *testing.T) {
	t.Parallel()
	db, pool, ctx := fresh(t)
	must(ctx, t, pool, `INSERT INTO jobtop.jobs (id, kind, effect_key, state_changed_at) SELECT lpad(i::text, 6, '0'), CASE WHEN i IN ($1, $1 + 5) THEN 'rare' ELSE 'k' END, i::text, now() + i * interval '1 second' FROM generate_series(1, $1 + 10) i`, store.ScanBound)
	first, err := db.Jobs(ctx, store.JobQuery{Conditions: where("kind:rare")})
	if err != nil || len(first.Jobs) != 1 || !first.Limited || first.Next == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := db.Jobs(ctx, store.JobQuery{Conditions: where("kind:rare"), After: first.Next})
	if err != nil || len(second.Jobs) != 1 || second.Limited || second.Next != "" || second.Jobs[0].ID == first.Jobs[0].ID {
		t.Fatalf("%+v, %v", second, err)
	}
	full, err := db.Jobs(ctx, store.JobQuery{Conditions: where("kind:rare"), Limit: 1})
	if err != nil || len(full.Jobs) != 1 || full.Limited || full.Next == "" {
		t.Errorf("a full page: %+v, %v", full, err)
	}
	none, err := db.Jobs(ctx, store.JobQuery{Conditions: where("kind:none", "id:0*")})
	if err != nil || len(none.Jobs) != 0 || !none.Limited || none.Next == "" {
		t.Errorf("by prefix: %+v, %v", none, err)
	}
	if got := all(ctx, t, db, store.JobQuery{Conditions: where("verdict:happened")}); got != nil {
		t.Error(got)
	}
	unproven, err := db.Jobs(ctx, store.JobQuery{Conditions: where("verdict:happened")})
	if err != nil || !unproven.Limited || unproven.Next == "" {
		t.Errorf("by verdict: %+v, %v", unproven, err)
	}
	byID, err := db.Jobs(ctx, store.JobQuery{Order: store.ByID, Limit: store.PageLimit})
	if err != nil || len(byID.Jobs) != store.PageLimit || !byID.Limited {
		t.Errorf("by id, of the first %d: %d, %v, %v", store.ScanBound, len(byID.Jobs), byID.Limited, err)
	}
	if got := all(ctx, t, db, store.JobQuery{Order: store.ByID, Limit: store.PageLimit}); len(got) != store.ScanBound {
		t.Errorf("by id: %d", len(got))
	}
	if got := all(ctx, t, db, store.JobQuery{Limit: 5_000}); len(got) != store.ScanBound+10 {
		t.Errorf("by time: %d", len(got))
	}
}
