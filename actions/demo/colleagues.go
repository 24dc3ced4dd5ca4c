package demo

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"time"

	"jobtop/actions"
	"jobtop/store"
)

// colleagues are made-up operators who settle some of the live jobs, so that the list of
// them does not grow without end, and leave the others, and all of the past, to whoever
// looks at the demo.
type colleagues struct {
	db       *store.DB
	scenario Scenario
	provider string
	names    []string
}

// How many of the live jobs are left to whoever looks, and how long a job is left alone.
const (
	stuckLeft  = 4
	reviewLeft = 12
	leftAlone  = 3 * time.Second
)

// run looks every other second, until ctx is done. A database that is away is looked at
// again; what could not be done then is not missed.
func (c colleagues) run(ctx context.Context) error {
	dice := c.scenario.dice("colleagues")
	for wait(ctx, 2*time.Second) {
		stuck, err := c.live(ctx, store.JobQuery{Stuck: true, Limit: 100})
		if err != nil {
			continue
		}
		if job, ok := c.hanging(stuck); ok {
			c.act(ctx, dice, actions.VerbHold, job, str(job.Worker)+" is not heard of", nil)
			continue
		}
		if dice.IntN(4) > 0 { // they have other things to do, too
			continue
		}
		lost := slices.DeleteFunc(stuck, func(job store.Job) bool { return c.scenario.comesBack(job) })
		if len(lost) > stuckLeft {
			c.settleStuck(ctx, dice, lost[0])
			continue
		}
		review, err := c.live(ctx, store.JobQuery{Conditions: []store.Condition{{Field: "state", Value: string(actions.Review)}}, Limit: 200})
		if err == nil && len(review) > reviewLeft {
			c.settleReview(ctx, dice, review[0])
		}
	}
	return nil
}

// live are the jobs of a list that the demo made since its start.
func (c colleagues) live(ctx context.Context, q store.JobQuery) ([]store.Job, error) {
	page, err := c.db.Jobs(ctx, q)
	if err != nil {
		return nil, err
	}
	var live []store.Job
	for _, job := range page.Jobs {
		if k, number, ok := parseID(job.ID); ok && number >= c.scenario.First[k.Name] {
			live = append(live, job)
		}
	}
	return live, nil
}

// hanging finds a stuck job whose worker will come back with its receipt.
func (c colleagues) hanging(stuck []store.Job) (store.Job, bool) {
	for _, job := range stuck {
		k, number, _ := parseID(job.ID)
		if *job.StuckFor > leftAlone && c.scenario.Temper(k, number, job.Attempt) == Hang {
			return job, true
		}
	}
	return store.Job{}, false
}

// comesBack tells whether a running job only seems lost: its worker goes on with it after
// a while.
func (s Scenario) comesBack(job store.Job) bool {
	k, number, ok := parseID(job.ID)
	if !ok {
		return false
	}
	temper := s.Temper(k, number, job.Attempt)
	return temper == Idle || temper == Hang
}

// returning are the workers that hold a job which comes back, by name.
func returning(ctx context.Context, db *store.DB, scenario Scenario) (map[string]bool, error) {
	page, err := db.Jobs(ctx, store.JobQuery{
		Conditions: []store.Condition{{Field: "state", Value: string(actions.Running)}}, Limit: store.PageLimit,
	})
	if err != nil {
		return nil, err
	}
	workers := map[string]bool{}
	for _, job := range page.Jobs {
		if scenario.comesBack(job) {
			workers[str(job.Worker)] = true
		}
	}
	return workers, nil
}

func (c colleagues) settleStuck(ctx context.Context, dice *rand.Rand, job store.Job) {
	switch job.Evidence.Verdict {
	case store.VerdictNeverStarted, store.VerdictDidNotHappen:
		c.act(ctx, dice, actions.VerbRequeue, job, str(job.Worker)+" is gone, and it had not begun", nil)
	default:
		c.act(ctx, dice, actions.VerbHold, job, str(job.Worker)+" is gone, ask the provider", nil)
	}
}

func (c colleagues) settleReview(ctx context.Context, dice *rand.Rand, job store.Job) {
	if str(job.ErrorCategory) == "receipt taken" {
		c.act(ctx, dice, actions.VerbDead, job, "the provider mixed up its receipts, settled with them by phone", nil)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	text, err := LookUp(ctx, c.provider, job.EffectKey)
	if err != nil {
		return
	}
	answer := &answer{text, time.Since(began)}
	var found report
	if err := json.Unmarshal(text, &found); err != nil {
		return
	}
	switch {
	case found.Status == statusHappened:
		c.act(ctx, dice, actions.VerbDone, job, "the provider has it", answer)
	case job.Evidence.Verdict == store.VerdictNotKnown:
		c.act(ctx, dice, actions.VerbDead, job, "nobody needs it twice", answer)
	default:
		c.act(ctx, dice, actions.VerbRequeue, job, "the provider knows nothing of it", answer)
	}
}

// answer is what a lookup brought, and how long it took.
type answer struct {
	json json.RawMessage
	took time.Duration
}

// act is one act of one of them, bound to what was seen. Whether it is refused is theirs
// to find out.
func (c colleagues) act(ctx context.Context, dice *rand.Rand, verb actions.Verb, job store.Job, reason string, answer *answer) {
	order := actions.Order{
		Verb: verb, JobID: job.ID, SeenState: actions.State(job.State), SeenVersion: job.Version,
		Reason: reason, Confirmations: actions.Ask(verb, job).Confirmations(),
	}
	if answer != nil {
		order.Lookup = lookupRecord(answer.json, answer.took)
	}
	if verb == actions.VerbDone {
		var found report
		_ = json.Unmarshal(answer.json, &found) // it was read before
		order.ReceiptID = found.ReceiptID
	}
	runner := actions.Runner{DB: c.db, Operator: c.names[dice.IntN(len(c.names))], Client: "jobtop demo"}
	runner.Run(ctx, order)
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
