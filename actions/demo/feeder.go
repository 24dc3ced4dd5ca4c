package demo

import (
	"context"
	"time"

	"jobtop/store"
)

// openingRate is at least how fast the first jobs come, so that each temper is seen soon.
const openingRate = 3.0

// feeder enqueues the live jobs.
type feeder struct {
	db       *store.DB
	scenario Scenario
	rate     float64 // jobs a second
	next     map[string]int
}

func newFeeder(db *store.DB, s Scenario, rate float64) *feeder {
	f := &feeder{db: db, scenario: s, rate: rate, next: map[string]int{}}
	for kind, number := range s.First {
		f.next[kind] = number
	}
	return f
}

// run enqueues until ctx is done. What the database does not take is lost, as it is in
// life when whoever enqueues gives up.
func (f *feeder) run(ctx context.Context) error {
	dice := f.scenario.dice("feeder")
	for _, kind := range opening {
		f.enqueue(ctx, kindNamed(kind))
		if !wait(ctx, pace(max(f.rate, openingRate), dice.ExpFloat64())) {
			return nil
		}
	}
	for {
		// At high rates several at a time: a timer is not that exact.
		batch := max(1, int(f.rate/20))
		for range batch {
			f.enqueue(ctx, f.choose(dice.Float64()))
		}
		if !wait(ctx, pace(f.rate/float64(batch), dice.ExpFloat64())) {
			return nil
		}
	}
}

// pace is the wait until the next of a number of events a second that come at random.
func pace(rate, dice float64) time.Duration {
	return time.Duration(dice / rate * float64(time.Second))
}

// choose picks a kind by its share.
func (f *feeder) choose(dice float64) Kind {
	for _, k := range Kinds {
		if dice < k.Share {
			return k
		}
		dice -= k.Share
	}
	return Kinds[0]
}

func (f *feeder) enqueue(ctx context.Context, k Kind) {
	number := f.next[k.Name]
	f.next[k.Name]++
	_, _ = f.db.Enqueue(ctx, store.NewJob{
		ID: k.jobID(number), Kind: k.Name, Payload: payload(k, number, f.scenario.dice("payload", k.jobID(number))),
		MaxAttempts: k.MaxAttempts, HeartbeatTimeout: k.HeartbeatTimeout, ProgressTimeout: k.ProgressTimeout,
	})
}
