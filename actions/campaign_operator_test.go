package actions

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"jobtop/store"
	"jobtop/store/sandbox/faultproxy"
)

// operator is one person's console: connections, a journal and a runner of its own.
type operator struct {
	name  string
	way   string // how its acts reach the server
	proxy *faultproxy.Proxy
	db    *store.DB
	// patient waits for outcomes as long as it takes; hasty gives up soon, and leaves
	// what it does not know to be settled later.
	patient, hasty *Runner
	unknown        []*report
}

// report is what an operator was told of one act.
type report struct {
	fault, way, operator string
	order                Order
	ambiguous            bool // its answer was lost
	result               Result
	early                string // what was wrong when it was told
}

// work carries out acts until the campaign has enough.
func (o *operator) work(c *campaign, rng *rand.Rand) {
	for {
		n := c.begun.Add(1)
		if n > int64(c.acts) {
			return
		}
		fault := c.draw(n, rng)
		if fault.weight == 0 { // one outage at a time
			c.outages.Lock()
		}
		c.gate.wait()
		order := o.choose(c, rng)
		s := &scene{c: c, o: o, rng: rng, order: &order}
		fault.arrange(s)
		runner := o.patient
		if rng.IntN(8) == 0 {
			runner = o.hasty
		}
		result := runner.Run(context.Background(), order)
		r := &report{fault: fault.name, way: o.way, operator: o.name, order: result.Order, result: result, ambiguous: result.Settled || result.Outcome == Unknown}
		if result.Outcome == Applied {
			r.early = c.seen(r)
		}
		for i := len(s.after) - 1; i >= 0; i-- {
			s.after[i]()
		}
		if fault.weight == 0 {
			c.outages.Unlock()
		}
		if result.Outcome == Unknown {
			o.unknown = append(o.unknown, r)
		}
		c.add(r)
		if len(o.unknown) > 0 && rng.IntN(4) == 0 {
			o.settleOne()
		}
	}
}

// settleOne asks again about an act that is unknown.
func (o *operator) settleOne() {
	r := o.unknown[0]
	r.result = o.patient.Settle(context.Background(), r.result)
	if r.result.Outcome != Unknown {
		o.unknown = o.unknown[1:]
	}
}

// restart is what becomes of the rest: the console's process is gone, and the next one
// settles what its journal holds.
func (o *operator) restart(c *campaign) {
	for _, r := range []*Runner{o.patient, o.hasty} {
		if err := r.Journal.Close(); err != nil {
			c.t.Error(err)
		}
	}
	next := &Runner{DB: o.db, Operator: o.name, Client: "campaign", Journal: o.patient.Journal}
	results, err := next.Recover(context.Background())
	if err != nil {
		c.t.Errorf("%s: %v", o.name, err)
	}
	left := map[string]*report{}
	for _, r := range o.unknown {
		left[r.order.ActionID] = r
	}
	for _, result := range results {
		r := left[result.Order.ActionID]
		if r == nil {
			c.t.Errorf("%s: the journal held %s, which was known", o.name, result.Order.ActionID)
			continue
		}
		r.result = result
		delete(left, result.Order.ActionID)
	}
	if len(left) > 0 {
		c.t.Errorf("%s: the journal did not hold %d acts that are unknown", o.name, len(left))
	}
	pending, err := next.Journal.Pending()
	if err != nil || len(pending) > 0 {
		c.t.Errorf("%s: still in the journal: %v, %v", o.name, pending, err)
	}
}

// choose takes any job and a verb that it may well allow, with what the operator would
// see of it. Now and then what it saw is old, or a confirmation is missing.
func (o *operator) choose(c *campaign, rng *rand.Rand) Order {
	var job store.Job
	var stuck bool
	condition := "j.state <> 'done'"
	if rng.IntN(20) == 0 {
		condition = "true"
	}
	c.read([]any{&job.ID, &job.Kind, &job.State, &job.Version, &job.Attempt, &stuck, &job.Evidence.Verdict}, `
		SELECT j.id, j.kind, j.state, j.version, j.attempt,
		       jobtop.stuck_for(j.heartbeat_at, j.heartbeat_timeout, j.progress_at, j.claimed_at, j.progress_timeout, clock_timestamp()) IS NOT NULL, e.verdict
		  FROM (SELECT * FROM jobtop.jobs j WHERE `+condition+` ORDER BY random() LIMIT 1) j, jobtop.evidence(j.id) e`)
	if stuck {
		job.StuckFor = new(time.Duration)
	}
	verb := Verbs()[rng.IntN(4)]
	for range 3 {
		if Unavailable(verb, job) == "" {
			break
		}
		verb = Verbs()[rng.IntN(4)]
	}
	order := Order{ActionID: uuid.NewString(), Verb: verb, JobID: job.ID, SeenState: State(job.State), SeenVersion: job.Version, Reason: "the campaign"}
	asks := Ask(verb, job)
	if rng.IntN(10) > 0 {
		order.Confirmations = asks.Confirmations()
	}
	if asks.Receipt {
		order.ReceiptID = "op-" + job.ID
		if rng.IntN(10) == 0 {
			order.ReceiptID = fmt.Sprintf("op-job-%d", rng.IntN(20))
		}
	}
	if rng.IntN(10) == 0 && order.SeenVersion > 1 {
		order.SeenVersion--
	}
	return order
}
