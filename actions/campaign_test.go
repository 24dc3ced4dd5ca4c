package actions

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/faultproxy"
	"jobtop/store/sandbox/sandboxtest"
)

var (
	campaignActs = flag.Int("campaign.acts", 200, "acts of the fault campaign")
	campaignSeed = flag.Uint64("campaign.seed", 0, "seed of the fault campaign; 0 takes one at random")
)

// campaign is many acts by several operators, most of them spoiled, while workers run
// jobs; on a server of its own, which is stopped and killed on the way.
type campaign struct {
	t       *testing.T
	acts    int
	url     string
	server  *sandbox.Server // nil: there are no outages
	direct  *pgxpool.Pool   // the judge's: around all proxies
	faults  []campaignFault
	outages sync.Mutex
	gate    gate
	begun   atomic.Int64

	mu      sync.Mutex
	reports []*report
}

// gate is shut while the server is down.
type gate struct{ sync.RWMutex }

func (g *gate) shut() { g.Lock() }
func (g *gate) lift() { g.Unlock() }
func (g *gate) wait() { g.RLock(); defer g.RUnlock() }

// Every report of an act, made in spite of every fault that the issue names, is true of
// the record. The long form is -campaign.acts=5000.
func TestCampaign(t *testing.T) {
	t.Parallel()
	seed := *campaignSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	c := &campaign{t: t, acts: *campaignActs, faults: campaignFaults}
	c.server = sandboxtest.Server(t, sandbox.Options{Settings: map[string]string{"autovacuum": "off"}})
	c.url = c.server.URL("postgres")
	if _, err := store.ApplySchema(context.Background(), c.url); err != nil {
		t.Fatal(err)
	}
	wrong, broken := c.run(seed)
	total := c.table(wrong)
	for r, text := range wrong {
		t.Errorf("WRONG: %s, %s: %s of %s at version %d (%s): %s", r.fault, r.operator, r.order.Verb, r.order.JobID, r.order.SeenVersion, r.order.ActionID, text)
	}
	for _, text := range broken {
		t.Errorf("BROKEN: %s", text)
	}
	if total.acts < c.acts || total.ambiguous*5 < total.acts {
		t.Errorf("%d acts, %d of them ambiguous: too few to mean anything", total.acts, total.ambiguous)
	}
	if total.unknown > 0 {
		t.Errorf("%d acts are unknown, with the server up and nothing in the way", total.unknown)
	}
}

// run lets the acts begin, waits until all is over, and judges.
func (c *campaign) run(seed uint64) (wrong map[*report]string, broken []string) {
	c.t.Helper()
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(c.url)
	if err != nil {
		c.t.Fatal(err)
	}
	config.MaxConns = 30
	if c.direct, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(c.direct.Close)
	if _, err := c.direct.Exec(ctx, witnessSQL); err != nil {
		c.t.Fatal(err)
	}
	if !c.hurried() {
		if _, err := c.direct.Exec(ctx, patient); err != nil {
			c.t.Fatal(err)
		}
	}
	crew, stop := c.crew(seed)
	operators := c.operators()
	var acting sync.WaitGroup
	for i, o := range operators {
		acting.Go(func() { o.work(c, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	acting.Wait()
	stop()
	for _, o := range operators {
		o.restart(c)
	}
	rec := c.record()
	wrong, broken = rec.judge(c.reports)
	c.t.Logf("%d jobs, %d receipts, %d steps of jobs, %d completions told to workers", len(rec.states), len(rec.receipts), len(rec.steps), len(crew.told))
	return wrong, append(broken, crew.wrong(rec.receipts)...)
}

// hurried: where many things go wrong, nothing waits long. An act that is only late has to
// stand at its lock until the settle came, however long that takes here.
func (c *campaign) hurried() bool { return len(c.faults) > 1 }

func (c *campaign) through(dsn string) (*faultproxy.Proxy, string) {
	c.t.Helper()
	proxy, url, err := faultproxy.New(dsn)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(proxy.Close)
	return proxy, url
}

func (c *campaign) open(url, name string) *store.DB {
	c.t.Helper()
	o := store.Options{DSN: url + "&connect_timeout=1", Application: name}
	if c.hurried() {
		o.ActTimeout = time.Second
	}
	db, err := store.Open(context.Background(), o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(db.Close)
	return db
}

// operators are eight people: four who reach the server directly, two through pgbouncer
// with the faults before it, and two with the faults behind it. Without pgbouncer all
// of them reach it directly.
func (c *campaign) operators() []*operator {
	dsn := c.url
	var operators []*operator
	add := func(way string, proxy *faultproxy.Proxy, url string) {
		name := fmt.Sprintf("operator-%d", len(operators)+1)
		o := &operator{name: name, way: way, proxy: proxy, db: c.open(url, name)}
		journal := NewJournal(c.t.TempDir())
		o.patient = &Runner{DB: o.db, Operator: name, Client: "campaign", Journal: journal, SettleFor: time.Minute}
		o.hasty = &Runner{DB: o.db, Operator: name, Client: "campaign", Journal: journal, SettleFor: 40 * time.Millisecond}
		operators = append(operators, o)
	}
	direct := 4
	program := bouncerProgram()
	if program == "" {
		c.t.Log("pgbouncer is not installed, so no act goes through it")
		direct = 8
	}
	for range direct {
		proxy, url := c.through(dsn)
		add("direct", proxy, url)
	}
	if program == "" {
		return operators
	}
	one, toOne := c.through(dsn)
	two, toTwo := c.through(dsn)
	bouncers := startBouncer(c.t, program, []string{dsn, toOne, toTwo})
	for range 2 {
		proxy, url := c.through(bouncers[0])
		add("before pgbouncer", proxy, url)
	}
	add("behind pgbouncer", one, bouncers[1])
	add("behind pgbouncer", two, bouncers[2])
	return operators
}

// crew starts the workers.
func (c *campaign) crew(seed uint64) (*crew, func()) {
	proxy, url := c.through(c.url)
	proxy.Standing(careless)
	w := &crew{c: c, db: c.open(url, "workers")}
	ctx, stop := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() { w.feed(ctx, rand.New(rand.NewPCG(seed, 100))) })
	for i := range uint64(3) {
		working.Go(func() { w.work(ctx, fmt.Sprintf("worker-%d", i+1), rand.New(rand.NewPCG(seed, 101+i))) })
	}
	eventually(c.t, "there are jobs", func() bool {
		var n int
		c.read([]any{&n}, "SELECT count(*) FROM jobtop.jobs")
		return n >= 50
	})
	return w, func() { stop(); working.Wait() }
}

// draw takes the fault for an act by its number: outages at regular distances, the
// others by their weights.
func (c *campaign) draw(n int64, rng *rand.Rand) campaignFault {
	if c.server != nil && n%75 == 0 {
		return c.faults[len(c.faults)-1-int(n/75)%2]
	}
	sum := 0
	for _, f := range c.faults {
		sum += f.weight
	}
	at := rng.IntN(sum)
	for _, f := range c.faults {
		if at -= f.weight; at < 0 {
			return f
		}
	}
	panic("no fault has any weight")
}

func (c *campaign) add(r *report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, r)
}
