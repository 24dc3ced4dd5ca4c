package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox/sandboxtest"
	"jobtop/ui/text"
)

func (f *fake) CountOpen(_ context.Context, states []string, _ int64) (map[string]store.Count, time.Duration, error) {
	counts := map[string]store.Count{}
	for _, s := range states {
		counts[s] = exactly(0)
	}
	return counts, time.Millisecond, f.read("count")
}

func (f *fake) TallyDone(_ context.Context, t store.DoneTally, _ int64) (store.DoneTally, error) {
	return t, f.read("count")
}

func (f *fake) CountExactly(ctx context.Context, _ time.Duration, _ func(store.Counting)) (store.ExactCounts, error) {
	poll, err := f.Poll(ctx)
	c := store.ExactCounts{Age: 40 * time.Millisecond, ServerCost: 12 * time.Millisecond}
	for _, s := range poll.States {
		c.States = append(c.States, store.StateCount{State: s.State, Count: exactly(s.Count.N)})
		c.Counted += s.Count.N
	}
	c.Elapsed = 90 * time.Millisecond
	return c, err
}

// crowded is a database with very many jobs, of which a look caps and estimates some, and
// what counting them costs.
type crowded struct {
	*fake
	open   map[string]int64 // exactly, of those that a look caps
	done   int64
	perRow time.Duration
	err    error
	steps  int
	bounds []int64
	holds  func(context.Context, func(store.Counting)) // an exact count, on its way
}

func newCrowded(done int64, open map[string]int64) *crowded {
	c := &crowded{fake: scene(), open: open, done: done, perRow: 150 * time.Nanosecond}
	c.poll.States = make([]store.StateCount, 6)
	for i, s := range []string{"pending", "running", "failed", "review"} {
		if open[s] > 0 {
			c.poll.States[i] = store.StateCount{State: s, Count: store.Count{N: store.CountBound, Precision: store.Capped}, OldestAge: ptr(time.Hour)}
		}
	}
	c.poll.States[4] = store.StateCount{State: "done", Count: store.Count{N: done + done/50, Precision: store.Estimated}}
	return c
}

func (c *crowded) spend(cost time.Duration) time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.spent += cost
	return cost
}

func (c *crowded) CountOpen(_ context.Context, states []string, bound int64) (map[string]store.Count, time.Duration, error) {
	counts := map[string]store.Count{}
	read := int64(0)
	for _, s := range states {
		counts[s] = exactly(c.open[s])
		if c.open[s] > bound {
			counts[s] = store.Count{N: bound, Precision: store.Capped}
		}
		read += counts[s].N
	}
	c.bounds = append(c.bounds, bound)
	return counts, c.spend(time.Millisecond + time.Duration(read)*c.perRow), c.err
}

func (c *crowded) TallyDone(_ context.Context, t store.DoneTally, rows int64) (store.DoneTally, error) {
	if c.err != nil {
		return t, c.err
	}
	c.steps++
	read := min(rows, c.done-t.Counted)
	if t.Known = read < rows; t.Known {
		t.Count = exactly(c.done)
	} else {
		t.Counted += rows
	}
	t.Cost = c.spend(time.Millisecond + time.Duration(read)*c.perRow)
	return t, nil
}

func (c *crowded) CountExactly(ctx context.Context, _ time.Duration, progress func(store.Counting)) (store.ExactCounts, error) {
	if c.holds != nil {
		c.holds(ctx, progress)
	}
	e := store.ExactCounts{Age: 3 * time.Second, ServerCost: 1200 * time.Millisecond}
	e.Elapsed = 3 * time.Second
	for _, s := range []string{"pending", "running", "failed", "review", "done", "dead"} {
		n := max(c.open[s], 1)
		if s == "done" {
			n = c.done
		}
		e.States = append(e.States, store.StateCount{State: s, Count: exactly(n)})
		e.Counted += n
	}
	if ctx.Err() != nil {
		e.States[4].Count, e.States[5].Count = store.Count{N: 50_000, Precision: store.Capped}, store.Count{Precision: store.Capped}
		e.Counted -= c.done - 50_000
		return e, &stoppedCount{}
	}
	return e, nil
}

type stoppedCount struct{}

func (*stoppedCount) Error() string { return "the count was stopped" }
func (*stoppedCount) Unwrap() error { return context.Canceled }

func onCrowded(t testing.TB, c *crowded, width, height int) *driver {
	t.Helper()
	return start(t, c.fake, width, height, func(o *Options) { o.DB = c })
}

// spending keeps what was spent in every minute.
func (c *crowded) most(d *driver, over time.Duration) time.Duration {
	type sample struct {
		at    time.Time
		spent time.Duration
	}
	samples := []sample{{d.clock, c.ServerTime()}}
	most := time.Duration(0)
	for end := d.clock.Add(over); d.clock.Before(end); {
		d.pass(500 * time.Millisecond)
		samples = append(samples, sample{d.clock, c.ServerTime()})
		for d.clock.Sub(samples[0].at) > time.Minute {
			samples = samples[1:]
		}
		most = max(most, samples[len(samples)-1].spent-samples[0].spent)
	}
	return most
}

// What a look caps and estimates becomes exact in the background, and all reading stays
// within the share.
func TestCountsBecomeExactWithinTheBudget(t *testing.T) {
	c := newCrowded(9_930_112, map[string]int64{"pending": 812_345, "failed": 12_007})
	d := onCrowded(t, c, 100, 30)
	d.wants("50,000+", "≈10.1M") // so far it comes at once
	most := c.most(d, 15*time.Minute)
	d.wants("812,345", "12,007", "9,930,112")
	d.lacks("≈10.1M")
	t.Logf("%v in a minute at most, %d slices", most, c.steps)
	if allowed := 660 * time.Millisecond; most > allowed {
		t.Errorf("%v of the server's time within a minute, at most %v", most, allowed)
	}
	if d.m.env.poller.wait != DefaultRefresh {
		t.Errorf("looks come every %v for it", d.m.env.poller.wait)
	}
	// What is done now shows with the next count, without another pass.
	before := c.steps
	c.done += 77
	d.pass(30 * time.Second)
	d.wants("9,930,189")
	if more := c.steps - before; more > 4 {
		t.Errorf("%d steps in half a minute", more)
	}
}

// Where looks alone are dear enough to use the share up, counting hardly slows them.
func TestCountsTakeWhatLooksLeave(t *testing.T) {
	c := newCrowded(5_000_000, map[string]int64{"pending": 400_000})
	c.before = func(what string) {
		if what == "poll" {
			c.spend(40 * time.Millisecond)
		}
	}
	d := onCrowded(t, c, 100, 30)
	most := c.most(d, 10*time.Minute)
	if allowed := 660 * time.Millisecond; most > allowed {
		t.Errorf("%v of the server's time within a minute, at most %v", most, allowed)
	}
	if wait := d.m.env.poller.wait; wait > 8*time.Second {
		t.Errorf("a look comes every %v", wait)
	}
	t.Logf("%v in a minute at most, %d slices of done jobs counted %d, the bounds of pending were %v", most, c.steps, d.m.env.counts.tally.Counted, c.bounds)
	c.most(d, 20*time.Minute)
	t.Logf("and %v", c.bounds)
	d.wants("5,000,000")
	if got := d.m.env.figure("pending"); got.N < 100_000 {
		t.Errorf("pending is %+v", got)
	}
}

// Too many to be counted within the share stay capped, at what was counted.
func TestCountsStayCappedWhereTheyAreDear(t *testing.T) {
	c := newCrowded(50, map[string]int64{"pending": 30_000_000})
	c.poll.States[4] = store.StateCount{}
	d := onCrowded(t, c, 100, 30)
	if most := c.most(d, 10*time.Minute); most > 660*time.Millisecond {
		t.Errorf("%v of the server's time within a minute", most)
	}
	last := c.bounds[len(c.bounds)-1]
	if last < 500_000 || last > 2_000_000 { // what half a minute has to spare, at what a row costs
		t.Errorf("counted up to %d", last)
	}
	d.wants(d.m.env.within(store.Count{N: last, Precision: store.Capped}, 9))
}

// A figure is shown with its age when that is more than a moment, and no longer than it
// says anything.
func TestCountsHaveTheirAge(t *testing.T) {
	c := newCrowded(120_000, map[string]int64{"pending": 21_000})
	d := onCrowded(t, c, 100, 30)
	d.pass(time.Minute)
	d.wants("120,000", "21,000")
	d.lacks("counted")
	c.err = fmt.Errorf("gone")
	d.pass(40 * time.Second)
	d.wants("pending, done counted 4", "s ago; rates of the last 5 min", "21,000")
	d.pass(3 * time.Minute)
	d.wants("pending, done counted 3m ago")
	d.pass(10 * time.Minute)
	d.wants("10,000+", "≈122k")
	d.lacks("counted", "21,000")
	c.err = nil
	d.pass(2 * time.Minute)
	d.wants("21,000", "120,000")

	// The look knows better when it counts less than it caps at.
	c.poll.States[0].Count = exactly(9_000)
	d.refresh()
	d.wants("9,000")
	d.lacks("21,000")
}

// Nothing is counted where looks are exact, while the screen is paused, or on a replica,
// where the done ones cannot be told.
func TestCountsOnlyWhatIsNeeded(t *testing.T) {
	d := on(t, "overview")
	counted := 0
	d.db.before = func(what string) {
		if what == "count" {
			counted++
		}
	}
	d.pass(time.Minute)
	if counted > 0 {
		t.Errorf("%d counts of what is exact", counted)
	}
	c := newCrowded(120_000, nil)
	c.server.Replica = true
	d = onCrowded(t, c, 100, 30)
	c.steps = 0
	d.pass(time.Minute)
	if c.steps > 0 {
		t.Errorf("%d steps on a replica", c.steps)
	}
	c = newCrowded(9_000_000, nil)
	d = onCrowded(t, c, 100, 30)
	d.press("p")
	before := c.steps
	d.pass(time.Minute)
	if c.steps > before {
		t.Errorf("%d steps while paused", c.steps-before)
	}
}

// The dialog says what it will do, does it, and its figures are on the overview.
func TestCountDialog(t *testing.T) {
	c := newCrowded(9_930_112, map[string]int64{"pending": 52_311})
	c.err = fmt.Errorf("nothing in the background")
	d := onCrowded(t, c, 100, 30)
	d.run(d.m.run("count"))
	d.wants("Count every job", "read ≈10.1M rows or more, by slices", "at most 1m00s, and esc stops it", "beyond the share of 1 % of one core", "enter count")
	d.press("enter") // in flight
	d.lacks("9,930,112")
	d.settle()
	spent := c.ServerTime()
	d.press("enter")
	d.wants("pending 52,311", "done 9,930,112", "all 9,982,427", "Took 3.0s, 1.2s of it the server's time, beyond the share of 1 %.")
	if c.ServerTime() != spent {
		t.Error("it was charged to the share")
	}
	d.settle()
	d.press("enter")
	d.lacks("Count every job")
	d.wants("52,311", "9,930,112")
	d.pass(40 * time.Second)
	d.wants("pending, done counted 40s ago")
}

// It is stopped with esc, and what was counted to its end by then stands.
func TestCountDialogStops(t *testing.T) {
	c := newCrowded(9_930_112, map[string]int64{"pending": 52_311})
	c.err = fmt.Errorf("nothing in the background")
	d := onCrowded(t, c, 100, 30)
	d.press("#")
	d.settle()
	waits := make(chan struct{})
	c.holds = func(ctx context.Context, progress func(store.Counting)) {
		progress(store.Counting{State: "done", Counted: 102_311, Expected: 10_000_000})
		close(waits)
		<-ctx.Done()
	}
	_, cmd := d.m.Update(keyMsg("enter"))
	go func() {
		<-waits
		d.m.env.dialogs.top().(*countDialog).stop()
	}()
	d.run(cmd)
	d.wants("pending 52,311", "done 50,000+ at least", "dead - not counted", "stopped")
	d.settle()
	d.press("esc")
	d.wants("52,311", "≈10.1M")
	d.lacks("9,930,112", "50,000+")
}

// While it runs esc stops it, and nothing else closes it.
func TestCountDialogWhileItRuns(t *testing.T) {
	d := on(t, "overview")
	d.press("#")
	running := d.m.env.dialogs.top().(*countDialog)
	stops := 0
	running.running, running.began, running.stop = true, d.clock, func() { stops++ }
	running.seen = store.Counting{State: "done", Counted: 4_200_000, Expected: 9_930_000}
	d.clock = d.clock.Add(12 * time.Second)
	d.wants("4,200,000 of ≈9.93M counted   now done", "12s of at most 1m00s", "esc stop", strings.Repeat("█", 28)+strings.Repeat("░", 40))
	d.press("enter", "#", "x")
	if stops > 0 || d.m.env.dialogs.top() != running {
		t.Error("a key stopped or closed it")
	}
	d.press("esc", "esc")
	d.wants("stopping")
	if stops != 1 || d.m.env.dialogs.top() != running {
		t.Errorf("stopped %d times", stops)
	}
}

// A figure that does not fit is told to three figures.
func TestFiguresFit(t *testing.T) {
	d := on(t, "overview")
	for _, c := range []struct {
		count   store.Count
		columns int
		want    string
	}{
		{exactly(9_930_112), 9, "9,930,112"}, {exactly(99_301_120), 9, "≈99.3M"}, {exactly(99_301_120), 13, "99,301,120"},
		{store.Count{N: 800_000, Precision: store.Capped}, 8, "800,000+"}, {store.Count{N: 800_000, Precision: store.Capped}, 7, "≈800k+"},
	} {
		if got := d.m.env.within(c.count, c.columns); got != c.want || text.Width(got) > c.columns {
			t.Errorf("%v in %d columns: %s, want %s", c.count, c.columns, got, c.want)
		}
	}
	c := newCrowded(9_993_011_234, map[string]int64{"pending": 12_345_678, "review": 1_234_567})
	for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}} {
		d := onCrowded(t, c, size[0], size[1])
		d.press("#")
		d.settle()
		d.press("enter")
		d.settle()
		d.press("esc", "tab")
		fits(t, d, size[0], size[1])
		switch size[0] {
		case 60:
			d.wants(">pending ≈12.3M", "done ≈9.99G", "review ≈1.23M")
		default:
			d.wants("> ≈12.3M", "9,993,011,234", "review  ≈1.23M")
		}
	}
}

// On a real server, with jobs that come and go.
func TestLiveCountsBecomeExact(t *testing.T) {
	dsn := sandboxtest.Database(t)
	pool := sandboxtest.Pool(t, dsn)
	simply(t, pool, `SET session_replication_role = replica;
		INSERT INTO jobtop.jobs (id, kind, effect_key, state_changed_at) SELECT 'p' || i, 'k', 'p' || i, now() - interval '1 hour' FROM generate_series(1, 12345) i;
		INSERT INTO jobtop.jobs (id, kind, effect_key, state, attempt, version) SELECT 'd' || i, 'k', 'd' || i, 'done', 1, 3 FROM generate_series(1, 123456) i;
		INSERT INTO jobtop.receipts (job_id, kind, receipt_id, attempt, recorded_by, recorded_at)
		  SELECT 'd' || i, 'k', 'd' || i, 1, 'w', now() - interval '1 day' + i * interval '1 ms' FROM generate_series(1, 123456) i;
		VACUUM ANALYZE jobtop.jobs, jobtop.receipts`)
	db, err := store.Open(t.Context(), store.Options{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	d := start(t, scene(), 100, 30, func(o *Options) { o.DB = db })
	d.wants("10,000+", "≈12")
	// The console's clock goes as fast as the server answers.
	becomes := func(texts ...string) {
		t.Helper()
		for range 200 {
			if shown := d.text(); !slices.ContainsFunc(texts, func(s string) bool { return !strings.Contains(shown, s) }) {
				return
			}
			d.pass(5 * time.Second)
		}
		d.wants(texts...)
	}
	becomes("12,345", "123,456")
	sql(t, pool, `SELECT jobtop.claim('w', '00000000-0000-7000-8000-000000000001', ARRAY['k'], 45)`)
	sql(t, pool, `SELECT jobtop.complete(id, lock_token, 'r' || id) FROM jobtop.jobs WHERE state = 'running'`)
	becomes("12,300", "123,501")

	// And by hand.
	sql(t, pool, `SELECT jobtop.enqueue('x' || i, 'k') FROM generate_series(1, 7) i`)
	d.press("#")
	d.settle()
	d.press("enter")
	d.wants("pending 12,307", "done 123,501", "all 135,808", "beyond the share of 1 %")
	d.settle()
	d.press("enter")
	d.lacks("Count every job")
	d.wants("12,307")
}

// simply runs statements one by one, each in a transaction of its own.
func simply(t testing.TB, pool *pgxpool.Pool, statements string) {
	t.Helper()
	conn, err := pool.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	for _, statement := range strings.Split(statements, ";") {
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%v\n%s", err, statement)
		}
	}
	if _, err := conn.Exec(context.Background(), "RESET session_replication_role"); err != nil {
		t.Fatal(err)
	}
}
