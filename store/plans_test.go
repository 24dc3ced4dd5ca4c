package store_test

import (
	"context"
	"crypto/md5"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
)

//go:embed testdata/seed.sql
var seed string

//go:embed testdata/incident.sql
var incident string

// busy returns the URL of a database like one that has been busy for a month, analysed.
func busy(t *testing.T, database func(testing.TB) string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("fills a table with 200,000 jobs")
	}
	url := database(t)
	fill(t, url, seed)
	return url
}

// fill runs a script as a superuser and analyses what it made.
func fill(t *testing.T, url, script string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range []string{script, "VACUUM (ANALYZE) jobtop.jobs, jobtop.attempts, jobtop.receipts, jobtop.actions, jobtop.late_reports"} {
		if _, err := conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
}

// sent is a statement as a read sent it.
type sent struct {
	sql       string
	arguments []any
}

// recorder keeps what reads send.
type recorder struct {
	mu      sync.Mutex
	list    []sent
	batches int
	others  int // queries outside of a batch
}

func (r *recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches++
	return ctx
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others++
	return ctx
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, sent{q.SQL, q.Args})
}

func (r *recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// cost is what a statement did, by its plan and by the server's counters, which also see
// what functions do.
type cost struct {
	scans   []string // tables of jobtop read from end to end
	touched int64    // rows and index entries
	blocks  int64
	plan    string
}

// measure runs a statement as it was sent and tells its cost. It asks for the plan with
// the settings a read makes and no others.
func measure(ctx context.Context, pool *pgxpool.Pool, s sent, before ...string) (cost, error) {
	var c cost
	tx, err := pool.Begin(ctx)
	if err != nil {
		return c, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	for _, sql := range append([]string{"SET LOCAL jit = off", "SET LOCAL max_parallel_workers_per_gather = 0"}, before...) {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return c, err
		}
	}
	var start, end int64
	if err := tx.QueryRow(ctx, touchedSoFar).Scan(&start, nil); err != nil {
		return c, err
	}
	var text string
	arguments := append([]any{pgx.QueryExecModeExec}, s.arguments...)
	if err := tx.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+s.sql, arguments...).Scan(&text); err != nil {
		return c, fmt.Errorf("%w\n%s", err, s.sql)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return c, err
	}
	c.plan = text
	plans[0].Plan.walk(&c)
	c.blocks = plans[0].Plan.Hit + plans[0].Plan.Read
	var whole []string
	if err := tx.QueryRow(ctx, touchedSoFar).Scan(&end, &whole); err != nil {
		return c, err
	}
	c.touched = max(c.touched, end-start)
	for _, table := range whole {
		if !slices.Contains(c.scans, table) {
			c.scans = append(c.scans, table+" (in a function)")
		}
	}
	return c, nil
}

// touchedSoFar counts the rows and index entries that this transaction has read, and
// names the big tables that it has read from end to end.
const touchedSoFar = `
SELECT (SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(c.oid)), 0)::bigint
          FROM pg_class c WHERE c.relnamespace = 'jobtop'::regnamespace AND c.relkind IN ('r', 'i')),
       (SELECT array_agg(s.relname::text) FROM pg_stat_xact_user_tables s
         WHERE s.schemaname = 'jobtop' AND s.seq_scan > 0 AND s.relname IN ('jobs', 'attempts', 'receipts', 'actions', 'late_reports'))`

// node is a node of a plan.
type node struct {
	Type      string  `json:"Node Type"`
	Relation  string  `json:"Relation Name"`
	Index     string  `json:"Index Name"`
	Rows      float64 `json:"Actual Rows"`
	Loops     float64 `json:"Actual Loops"`
	Filtered  float64 `json:"Rows Removed by Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Hit       int64   `json:"Shared Hit Blocks"`
	Read      int64   `json:"Shared Read Blocks"`
	Plans     []node  `json:"Plans"`
}

func (n node) walk(c *cost) {
	big := []string{"jobs", "attempts", "receipts", "actions", "late_reports"}
	if n.Type == "Seq Scan" && slices.Contains(big, n.Relation) {
		c.scans = append(c.scans, n.Relation)
	}
	if n.Relation != "" || n.Index != "" {
		c.touched += int64((n.Rows + n.Filtered + n.Rechecked) * n.Loops)
	}
	for _, child := range n.Plans {
		child.walk(c)
	}
}

// shapes are the reads in each form they take, with a bound on the rows that each may
// touch beside 200,000 done jobs and 7,000 open ones.
func shapes() []shape {
	filter := func(terms ...string) []store.Condition {
		var list []store.Condition
		for _, term := range terms {
			field, value, _ := strings.Cut(term, ":")
			list = append(list, store.Condition{Field: strings.TrimPrefix(field, "!"), Value: value, Not: strings.HasPrefix(field, "!")})
		}
		return list
	}
	list := []shape{
		{"poll", 16_000, func(ctx context.Context, db *store.DB) (string, error) { _, err := db.Poll(ctx); return "", err }},
		{"overview", 16_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Overview(ctx)
			return "", err
		}},
		{"contradictions now", 25_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, _, err := db.ContradictionsNow(ctx)
			return "", err
		}},
		{"contradictions, a chunk of all", 25_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, _, _, err := db.ContradictionsAfter(ctx, id(99))
			return "", err
		}},
		{"detail", 100, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Job(ctx, id(206_001))
			return "", err
		}},
		{"detail of a job with 5,000 attempts", 20_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Job(ctx, id(206_400))
			return "", err
		}},
		{"row", 20, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Row(ctx, id(206_001))
			return "", err
		}},
		{"payload", 5, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Payload(ctx, id(7))
			return "", err
		}},
		{"count of everything", 300_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.CountExactly(ctx, 0, nil)
			return "", err
		}},
		{"count of the open", 10_000, func(ctx context.Context, db *store.DB) (string, error) {
			_, _, err := db.CountOpen(ctx, []string{"pending", "running", "failed", "review", "dead"}, 100_000)
			return "", err
		}},
		{"slices of the done", 90_000, func(ctx context.Context, db *store.DB) (string, error) {
			var tally store.DoneTally
			var err error
			for step := 0; step < 4 && err == nil; step++ {
				tally, err = db.TallyDone(ctx, tally, 20_000)
			}
			return "", err
		}},
		{"receipts", 50, func(ctx context.Context, db *store.DB) (string, error) {
			_, err := db.Receipts(ctx, 20)
			return "", err
		}},
	}
	for _, q := range []struct {
		name  string
		bound int64
		query store.ActionQuery
	}{
		{"actions", 200, store.ActionQuery{}},
		{"actions of a job", 200, store.ActionQuery{JobID: id(206_400)}},
		{"actions of an operator", 400, store.ActionQuery{Operator: "alice"}},
		{"actions since", 200, store.ActionQuery{Since: 3600e9}},
		{"refused actions", 1_500, store.ActionQuery{Outcome: "refused"}},
		{"actions of a verb nobody used", 21_000, store.ActionQuery{Verb: "retention"}},
		{"actions of nobody", 21_000, store.ActionQuery{Operator: "nobody"}},
	} {
		list = append(list, shape{q.name, q.bound, func(ctx context.Context, db *store.DB) (string, error) {
			page, err := db.Actions(ctx, q.query)
			if err == nil && page.Next != "" {
				next := q.query
				next.After = page.Next
				_, err = db.Actions(ctx, next)
			}
			return page.Next, err
		}})
	}
	for _, q := range []struct {
		name  string
		bound int64
		query store.JobQuery
	}{
		{"jobs", 500, store.JobQuery{}},
		{"jobs newest", 600, store.JobQuery{Order: store.NewestFirst}},
		{"jobs by id", 30_000, store.JobQuery{Order: store.ByID}},
		{"jobs by 1,000", 6_000, store.JobQuery{Limit: 1_000}},
		{"review", 1_000, store.JobQuery{Conditions: filter("state:review")}},
		{"all but dead", 500, store.JobQuery{Conditions: filter("!state:dead")}},
		{"kind", 1_000, store.JobQuery{Conditions: filter("kind:card.charge")}},
		{"unknown kind", 7_500, store.JobQuery{Conditions: filter("kind:none")}},
		{"not a kind", 500, store.JobQuery{Conditions: filter("!kind:card.charge")}},
		{"worker", 8_000, store.JobQuery{Conditions: filter("worker:w-7")}},
		{"no worker", 500, store.JobQuery{Conditions: filter("worker:")}},
		{"error", 1_500, store.JobQuery{Conditions: filter("error:provider timeout", "state:failed")}},
		{"version", 1_500, store.JobQuery{Conditions: filter("version:v3")}},
		{"verdict", 8_000, store.JobQuery{Conditions: filter("verdict:may_have_happened", "state:review")}},
		{"unknown verdict", 4_000, store.JobQuery{Conditions: filter("verdict:happened")}},
		{"age", 500, store.JobQuery{Conditions: filter("age:10m")}},
		{"young", 1_000, store.JobQuery{Conditions: filter("!age:10m")}},
		{"id", 20, store.JobQuery{Conditions: filter("id:" + id(99))}},
		{"two ids and a kind", 30, store.JobQuery{Conditions: filter("id:"+id(99), "id:"+id(206_000), "kind:card.charge")}},
		{"prefix", 700, store.JobQuery{Conditions: filter("id:job-ab*")}},
		{"prefix of all", 700, store.JobQuery{Conditions: filter("id:*")}},
		{"prefix and kind", 2_000, store.JobQuery{Conditions: filter("id:job-a*", "kind:report.build")}},
		{"prefix in a state", 1_000, store.JobQuery{Conditions: filter("id:job-a*", "state:review")}},
		{"not a prefix", 500, store.JobQuery{Conditions: filter("!id:job-a*")}},
		{"effect", 20, store.JobQuery{Conditions: filter("effect:effect-100")}},
		{"effect that is the id", 20, store.JobQuery{Conditions: filter("effect:" + id(99))}},
		{"receipt", 20, store.JobQuery{Conditions: filter("receipt:r_77")}},
		{"late receipt", 20, store.JobQuery{Conditions: filter("receipt:late_206002")}},
		{"not a receipt", 1_000, store.JobQuery{Conditions: filter("!receipt:late_206002", "state:review")}},
		{"done", 1_000, store.JobQuery{Conditions: filter("state:done")}},
		{"done oldest", 1_000, store.JobQuery{Conditions: filter("state:done"), Order: store.OldestFirst}},
		{"done of a kind", 3_000, store.JobQuery{Conditions: filter("state:done", "kind:report.build")}},
		{"done of an unknown worker", 42_000, store.JobQuery{Conditions: filter("state:done", "worker:none")}},
		{"done since", 1_000, store.JobQuery{Conditions: filter("state:done", "!age:1d")}},
		{"done since, oldest first", 30, store.JobQuery{Conditions: filter("state:done", "!age:1d"), Order: store.OldestFirst, Limit: 1}},
		{"done long ago", 1_000, store.JobQuery{Conditions: filter("state:done", "age:20d")}},
		{"stuck", 6_000, store.JobQuery{Stuck: true}},
		{"stuck oldest", 1_200, store.JobQuery{Stuck: true, Order: store.OldestFirst}},
		{"stuck newest", 1_200, store.JobQuery{Stuck: true, Order: store.NewestFirst}},
		{"stuck by id", 6_000, store.JobQuery{Stuck: true, Order: store.ByID}},
		{"stuck of a kind and verdict", 6_000, store.JobQuery{Stuck: true, Conditions: filter("kind:card.charge", "!verdict:happened")}},
	} {
		list = append(list, shape{q.name, q.bound, func(ctx context.Context, db *store.DB) (string, error) {
			page, err := db.Jobs(ctx, q.query)
			if err == nil && page.Next != "" {
				next := q.query
				next.After = page.Next
				_, err = db.Jobs(ctx, next)
			}
			return page.Next, err
		}})
	}
	return list
}

// shape is a read in one form. A list is read two pages deep.
type shape struct {
	name  string
	bound int64
	run   func(context.Context, *store.DB) (string, error)
}

// id is the id that the seed gives to its job number n.
func id(n int) string {
	return fmt.Sprintf("job-%.4s-%d", fmt.Sprintf("%x", md5.Sum([]byte(strconv.Itoa(n)))), n)
}

// statements are what a shape sends, without the transaction around it.
func (s shape) statements(ctx context.Context, t *testing.T, db *store.DB) []sent {
	t.Helper()
	r := &recorder{}
	traced, err := store.Traced(db, r)
	if err != nil {
		t.Fatal(err)
	}
	defer traced.Close()
	if _, err := s.run(ctx, traced); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(r.list, func(s sent) bool {
		return strings.HasPrefix(s.sql, "BEGIN") || s.sql == "COMMIT" || strings.Contains(s.sql, "schema_version")
	})
}

func TestPlans(t *testing.T) {
	for name, database := range map[string]func(testing.TB) string{"C": sandboxtest.Database, "not C": sandboxtest.NonCDatabase} {
		t.Run(name, func(t *testing.T) {
			url := busy(t, database)
			db, pool, ctx := open(t, url), sandboxtest.Pool(t, url), bounded(t)
			for _, s := range shapes() {
				t.Run(s.name, func(t *testing.T) { s.hold(ctx, t, db, pool) })
			}
			if name != "C" {
				return
			}
			t.Run("without an index", func(t *testing.T) { catches(ctx, t, db, pool) })
			fill(t, url, incident)
			for _, s := range shapes() {
				if bound, ok := incidentBounds[s.name]; ok {
					s.bound = bound
				}
				t.Run("in an incident/"+s.name, func(t *testing.T) { s.hold(ctx, t, db, pool) })
			}
		})
	}
}

// sliceBounds are what a single statement may touch of those that read by slices.
var sliceBounds = map[string]int64{
	"count of everything": 100_100, // a slice that is not there as a whole is first looked for and then counted
	"slices of the done":  22_000,  // and 1,000 actions
}

// incidentBounds are those bounds that are others where 60,000 jobs wait and 60,000 are
// stuck: what is shown is still small, what is counted or sorted is bounded.
var incidentBounds = map[string]int64{
	"poll":         45_000, // 10,000 of each state, of the due ones, and of the running ones' heartbeats
	"overview":     80_000, // 10,000 due ones of each kind
	"jobs by id":   42_000, // 10,000 examined and as many counted, for each page
	"kind":         21_000, // 10,000 examined for each page
	"unknown kind": 21_000,
	"version":      21_000,
	"no worker":    21_000,
	"stuck":        42_000,
	"stuck by id":  42_000,

	"count of everything": 500_000,
	"count of the open":   130_000,
}

// hold fails unless a shape keeps to its bounds.
func (s shape) hold(ctx context.Context, t *testing.T, db *store.DB, pool *pgxpool.Pool) {
	var touched, blocks int64
	for _, statement := range s.statements(ctx, t, db) {
		c, err := measure(ctx, pool, statement)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.scans) > 0 {
			t.Errorf("reads %v from end to end\n%s\n%s", c.scans, statement.sql, c.plan)
		}
		if bound, ok := sliceBounds[s.name]; ok && c.touched > bound {
			t.Errorf("touches %d rows at once, more than %d\n%s", c.touched, bound, statement.sql)
		}
		touched += c.touched
		blocks += c.blocks
	}
	t.Logf("%d rows touched, %d allowed, in %d blocks", touched, s.bound, blocks)
	if touched > s.bound {
		t.Errorf("touches %d rows, more than %d", touched, s.bound)
	}
	// A row takes a few blocks to find; many more are a scan that begins in the wrong place.
	if blocks > 10*s.bound {
		t.Errorf("reads %d blocks, more than %d", blocks, 10*s.bound)
	}
}

// catches shows that each index is needed: without it the check that it is there for
// fails, so a lost index cannot go by unseen.
func catches(ctx context.Context, t *testing.T, db *store.DB, pool *pgxpool.Pool) {
	for index, name := range map[string]string{
		"jobs_open":               "review",
		"jobs_queue":              "poll",
		"jobs_effect_key":         "effect",
		"receipts_recorded_at":    "done",
		"late_reports_receipt_id": "late receipt",
		"actions_at":              "actions",
		"actions_job":             "actions of a job",
	} {
		t.Run(index, func(t *testing.T) {
			list := shapes()
			s := list[slices.IndexFunc(list, func(s shape) bool { return s.name == name })]
			var touched int64
			var scans []string
			for _, statement := range s.statements(ctx, t, db) {
				c, err := measure(ctx, pool, statement, "DROP INDEX jobtop."+index)
				if err != nil {
					t.Fatal(err)
				}
				touched += c.touched
				scans = append(scans, c.scans...)
			}
			if touched <= s.bound && len(scans) == 0 {
				t.Errorf("%s passes without %s, touching %d rows of %d allowed", name, index, touched, s.bound)
			}
		})
	}
}
