package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"jobtop/store/sandbox"
)

// Past is what went on before the start.
type Past struct {
	History sandbox.History
	// Scenario knows the numbers of the live jobs, which follow those of the past.
	Scenario Scenario
	// Effects are what the provider did, as long ago as After says, by key.
	Effects map[string]PastEffect
	// NextReceipt are the numbers that the provider goes on with, by kind.
	NextReceipt map[string]int
}

// PastEffect is something that the provider did before the start.
type PastEffect struct {
	ReceiptID string
	Ago       time.Duration
}

// How far back the traffic goes, and its limit however high the rate: what went on
// before the start has to be there within a second.
const (
	trafficFrom = 50 * time.Minute
	trafficRate = 2.0 // jobs a second
)

// birth is a job of the past that is still to be told. Without a story it is traffic.
type birth struct {
	ago   time.Duration
	known bool
	tell  func(*life)
}

// MakePast makes the past of a demo that runs at a rate, in jobs a second. It is the
// same for the same seed and rate.
func MakePast(seed uint64, rate float64) Past {
	scenario := Scenario{Seed: seed, First: map[string]int{}}
	p := &past{dice: scenario.dice("past"), scenario: scenario, effects: map[string]PastEffect{}}
	next := map[string]int{}
	for _, k := range Kinds {
		births := p.stories(k.Name)
		if k.Name != pausedKind {
			births = append(births, p.traffic(k, min(rate, trafficRate))...)
		}
		slices.SortStableFunc(births, func(a, b birth) int { return cmp.Compare(b.ago, a.ago) })
		known := slices.IndexFunc(births, func(b birth) bool { return b.known })
		for i, b := range births {
			l := p.enqueue(k, k.Known+i-known, b.ago)
			if b.tell != nil {
				b.tell(l)
			} else {
				p.ordinary(l)
			}
			// A life that is not over yet belongs to the stories; of the traffic, the last
			// seconds are left out.
			if l.at >= 0 {
				l.keep()
			}
		}
		scenario.First[k.Name] = k.Known + len(births) - known
		next[k.Name] = k.KnownReceipt + len(births) - known
	}
	p.aside()
	return Past{History: p.history, Scenario: scenario, Effects: p.effects, NextReceipt: next}
}

// traffic is when ordinary jobs of a kind came in.
func (p *past) traffic(k Kind, rate float64) []birth {
	var births []birth
	for at := trafficFrom; at > 0; {
		minutes := at.Minutes()
		swell := 0.8 + 0.2*math.Sin(minutes/9) + 0.1*math.Sin(minutes/2.3)
		at -= time.Duration(p.dice.ExpFloat64() / (rate * k.Share * swell) * float64(time.Second))
		births = append(births, birth{ago: at})
	}
	return births
}

// ordinary is the life of a job as most are: done at once, or after some trouble, which
// is of the same kinds as in the live ones.
func (p *past) ordinary(l *life) {
	_, number, _ := parseID(l.job.ID)
	for l.job.State != "done" && l.job.State != "dead" {
		if l.job.State == "failed" {
			l.until(l.job.Run)
		}
		l.after(ms(p.dice, 100, 3000)).claim(p.worker())
		switch p.scenario.Temper(l.kind, number, l.job.Attempt) {
		case BadInput:
			category, detail := badInput(l.kind)
			l.after(ms(p.dice, 20, 200)).fail("not_begun", true, category, detail)
		case Hopeless:
			l.after(ms(p.dice, 20, 200)).fail("not_begun", false, "bad address", hopeless)
		case Busy:
			l.work().intent().after(ms(p.dice, 80, 400)).fail("refused", true, "busy", busy)
		case Declined:
			l.work().intent().after(ms(p.dice, 80, 900)).fail("refused", false, "declined", declined)
		case LostAnswer:
			l.work().intent().happens().after(ms(p.dice, 80, 900))
			p.doubtful(l, true, "connection lost", lost)
		case Silence:
			l.work().intent().after(callTimeout)
			p.doubtful(l, false, "provider timeout", "no answer from the provider within "+callTimeout.String())
		case Slow:
			l.work().intent().after(slowness).done()
		default:
			l.work().intent().after(ms(p.dice, 80, 900)).done()
		}
	}
}

// doubtful is an attempt whose outcome an operator found out.
func (p *past) doubtful(l *life, happened bool, category, detail string) {
	l.fail("unknown", true, category, detail)
	l.after(ms(p.dice, 100_000, 900_000))
	who := []string{"alice", "bob"}[p.dice.IntN(2)]
	if happened {
		l.act("done", who, "the provider has it", lookedUp, withReceipt(l.receiptID()))
		return
	}
	l.act("requeue", who, "the provider knows nothing of it", lookedUp, confirmed("may_have_happened"))
}

// work is the part before the provider is called, with signs of life.
func (l *life) work() *life {
	for step := range max(1, l.kind.Steps) {
		l.after(around(l.past.dice, l.kind.Work) / time.Duration(max(1, l.kind.Steps)))
		if l.kind.Steps > 0 {
			l.beat(int64(100 * (step + 1) / l.kind.Steps))
		}
	}
	if l.kind.Steps == 0 && l.at < *l.job.Claimed-l.kind.HeartbeatTimeout/4 {
		l.beat(0)
	}
	return l
}

// worker is one of the workers of the past, and its version.
func (p *past) worker() (name, version string) {
	n := 1 + p.dice.IntN(pastWorkers)
	return fmt.Sprintf("w-%d", n), versionOf(n)
}

// pastWorkers is how many workers there were; the live ones are numbered on.
const pastWorkers = 9

// versionOf is the source version of a worker: some are still on the old one.
func versionOf(n int) string {
	if n%3 == 0 {
		return "v4.2.0"
	}
	return "v4.2.1"
}

// ms is a duration between two numbers of milliseconds, sooner rather than later.
func ms(dice *rand.Rand, from, to int) time.Duration {
	spread := dice.Float64() * dice.Float64()
	return time.Duration(float64(from)+spread*float64(to-from)) * time.Millisecond
}

// What an act may carry.

func withReceipt(id string) func(*sandbox.PastAction) {
	return func(a *sandbox.PastAction) { a.ReceiptID = &id }
}

func confirmed(what string) func(*sandbox.PastAction) {
	return func(a *sandbox.PastAction) { a.Confirmations = []string{what} }
}

func delayed(d time.Duration) func(*sandbox.PastAction) {
	return func(a *sandbox.PastAction) { a.Delay = &d }
}

func seen(state string, version int64) func(*sandbox.PastAction) {
	return func(a *sandbox.PastAction) { a.SeenState, a.SeenVersion = &state, &version }
}

// byHand is what the guard writes about a change that was made past the functions.
func byHand(to string) func(*sandbox.PastAction) {
	return func(a *sandbox.PastAction) {
		client, reason := "psql", "changed by hand, past the functions of jobtop"
		a.DBRole, a.ToState, a.Client, a.Reason = a.Operator, &to, &client, &reason
	}
}

// lookedUp keeps the provider's answer with the action.
func lookedUp(a *sandbox.PastAction) {
	answer := report{Status: statusUnknown, Key: *a.JobID}
	if a.Verb == "done" {
		kind, number, _ := parseID(*a.JobID)
		answer.Status, answer.ReceiptID = statusHappened, kind.receiptID(number)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err) // four strings
	}
	a.Lookup = lookupRecord(text, 18*time.Millisecond)
}

// lookupRecord is what an action keeps of a lookup, in the form that the console gives it.
func lookupRecord(answer json.RawMessage, took time.Duration) json.RawMessage {
	var found report
	_ = json.Unmarshal(answer, &found) // without a receipt there is none to keep
	record := struct {
		Command   string  `json:"command"`
		ReceiptID *string `json:"receipt_id"`
		Output    string  `json:"output"`
		Seconds   float64 `json:"took_seconds"`
	}{Command: "jobtop", Output: string(answer), Seconds: float64(took.Milliseconds()) / 1000}
	if found.ReceiptID != "" {
		record.ReceiptID = &found.ReceiptID
	}
	text, err := json.Marshal(record)
	if err != nil {
		panic(err) // strings and a number
	}
	return text
}
