package demo

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Temper is what goes wrong with one attempt, if anything.
type Temper string

// The tempers. The worker brings about the first group, the provider the others.
const (
	Fine     Temper = "fine"
	BadInput Temper = "bad input" // fails before the effect begins, and may be tried again
	Hopeless Temper = "hopeless"  // fails before the effect begins, for good
	Idle     Temper = "idle"      // heartbeats go on, progress does not
	Hang     Temper = "hang"      // has the receipt, says nothing for a while, and then reports it

	Slow       Temper = "slow"        // the provider takes its time, and acts
	Busy       Temper = "busy"        // the provider refuses for now
	Declined   Temper = "declined"    // the provider refuses for good
	LostAnswer Temper = "lost answer" // the provider acts, and its answer is lost
	Silence    Temper = "silence"     // the provider neither acts nor answers
	Doubled    Temper = "doubled"     // the provider answers with another effect's receipt
)

// What the record says of an attempt that went wrong.
const (
	hopeless = "\"customer@@example.com\" is no address; nothing was sent to anybody"
	busy     = "the provider refused with status 503: over capacity, nothing was done"
	declined = "the provider refused with status 402: insufficient funds"
	lost     = "the provider closed the connection before it answered"
)

// badInput is what the record says of a job that its worker could not begin with.
func badInput(k Kind) (category, detail string) {
	if k.Steps > 0 {
		return "disk full", "write /var/reports/tmp: no space left on device"
	}
	return "template missing", k.Prefix + "-2024 has no text in pt-BR"
}

// Kind is a kind of job: what it is like to run, and how often what goes wrong.
type Kind struct {
	Name    string
	Prefix  string // of the job's id
	Receipt string // prefix of the provider's receipt ID

	// Known is the number of a job of the past that can be told of beforehand, and
	// KnownReceipt that of its receipt. Both count up from there.
	Known, KnownReceipt int

	Share            float64       // of all jobs
	Work             time.Duration // before the provider is called; typical
	Steps            int           // of progress reported meanwhile; 0: none
	RecordsIntent    bool
	MaxAttempts      int
	HeartbeatTimeout time.Duration
	ProgressTimeout  time.Duration // 0: none

	Opening []Temper // of the first live jobs, so that each can be seen soon
	Odds    []Odds   // of the later ones; else fine
}

// Odds is how likely a temper is, from 0 to 1.
type Odds struct {
	Temper Temper
	Chance float64
}

// Kinds are the kinds of job of the demo.
var Kinds = []Kind{
	{
		Name: "card.charge", Prefix: "charge", Receipt: "ch", Known: 10442, KnownReceipt: 8121, Share: 0.33, Work: 1200 * time.Millisecond,
		RecordsIntent: true, MaxAttempts: 5, HeartbeatTimeout: 5 * time.Second,
		Opening: []Temper{Slow, LostAnswer, Declined, Silence, Busy},
		Odds:    []Odds{{Slow, 0.08}, {LostAnswer, 0.025}, {Silence, 0.015}, {Declined, 0.015}, {Busy, 0.04}},
	},
	{
		Name: "invoice.send", Prefix: "invoice", Receipt: "in", Known: 88121, KnownReceipt: 9901, Share: 0.26, Work: 1800 * time.Millisecond,
		RecordsIntent: true, MaxAttempts: 3, HeartbeatTimeout: 5 * time.Second,
		Opening: []Temper{Slow, Busy, BadInput, Hopeless},
		Odds:    []Odds{{Slow, 0.05}, {Busy, 0.06}, {BadInput, 0.02}, {Hopeless, 0.003}, {Silence, 0.008}},
	},
	{
		Name: "mail.send", Prefix: "mail", Receipt: "ml", Known: 30752, KnownReceipt: 40188, Share: 0.27, Work: 700 * time.Millisecond,
		MaxAttempts: 4, HeartbeatTimeout: 5 * time.Second,
		Opening: []Temper{Hang, LostAnswer, Busy},
		Odds:    []Odds{{Slow, 0.05}, {LostAnswer, 0.012}, {Busy, 0.03}, {Hopeless, 0.003}, {Hang, 0.01}},
	},
	{
		Name: "refund.pay", Prefix: "refund", Receipt: "re", Known: 2208, KnownReceipt: 1431, Share: 0.07, Work: 1500 * time.Millisecond,
		RecordsIntent: true, MaxAttempts: 5, HeartbeatTimeout: 5 * time.Second,
		Opening: []Temper{Fine, Doubled},
		Odds:    []Odds{{Slow, 0.2}, {Declined, 0.03}, {LostAnswer, 0.03}, {Doubled, 0.02}},
	},
	{
		Name: "report.build", Prefix: "report", Receipt: "rp", Known: 517, KnownReceipt: 466, Share: 0.04, Work: 14 * time.Second, Steps: 20,
		RecordsIntent: true, MaxAttempts: 3, HeartbeatTimeout: 5 * time.Second, ProgressTimeout: 6 * time.Second,
		Opening: []Temper{Idle, Fine},
		Odds:    []Odds{{Idle, 0.1}, {BadInput, 0.04}},
	},
	{
		// Paused from before the start: its jobs pile up until somebody resumes it.
		Name: "sms.send", Prefix: "sms", Receipt: "sm", Known: 6120, KnownReceipt: 5904, Share: 0.03, Work: 500 * time.Millisecond,
		MaxAttempts: 4, HeartbeatTimeout: 5 * time.Second,
	},
}

// opening is the order of kinds in which the first live jobs come.
var opening = []string{
	"report.build", "card.charge", "mail.send", "refund.pay", "invoice.send", "card.charge", "mail.send", "card.charge",
	"invoice.send", "card.charge", "invoice.send", "mail.send", "refund.pay", "invoice.send", "card.charge", "report.build", "sms.send",
}

func kindNamed(name string) Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	panic("demo: no kind " + name)
}

// jobID is the id of the kind's job of that number; it is the effect key, too.
func (k Kind) jobID(number int) string { return k.Prefix + "-" + strconv.Itoa(number) }

// receiptID is the provider's receipt for a job of the past.
func (k Kind) receiptID(number int) string {
	return k.Receipt + "_" + strconv.Itoa(k.KnownReceipt+number-k.Known)
}

// parseID tells the kind and number of a job.
func parseID(id string) (Kind, int, bool) {
	prefix, digits, _ := strings.Cut(id, "-")
	number, err := strconv.Atoi(digits)
	if err != nil {
		return Kind{}, 0, false
	}
	for _, k := range Kinds {
		if k.Prefix == prefix {
			return k, number, true
		}
	}
	return Kind{}, 0, false
}

// Scenario decides what goes wrong: always the same for one seed, whatever the timing.
type Scenario struct {
	Seed uint64
	// First are the numbers of the first live job of each kind, by name.
	First map[string]int
}

// Temper tells what becomes of a try, counted from 1, of a job.
func (s Scenario) Temper(k Kind, number, try int) Temper {
	if n := number - s.First[k.Name]; try == 1 && n >= 0 && n < len(k.Opening) {
		return k.Opening[n]
	}
	dice := s.dice("temper", k.jobID(number), try).Float64()
	for _, o := range k.Odds {
		if dice < o.Chance {
			return o.Temper
		}
		dice -= o.Chance
	}
	return Fine
}

// dice are the same for the same seed and words.
func (s Scenario) dice(words ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprintln(h, words...)
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

// around varies a duration: mostly near it, seldom several times as long.
func around(dice *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.5 + 0.5*dice.ExpFloat64()))
}

// payload makes up what a job of the kind carries.
func payload(k Kind, number int, dice *rand.Rand) json.RawMessage {
	fields := map[string]any{
		// Beyond what a floating-point number holds, as ids of real systems are.
		"order_id": 1970670598291982290 + int64(number),
		"customer": map[string]any{"id": fmt.Sprintf("cus_%05d", dice.IntN(90000)), "email": fmt.Sprintf("customer%d@example.com", number)},
	}
	switch k.Name {
	case "card.charge":
		fields["amount"], fields["currency"] = 500+dice.IntN(40000), "EUR"
		fields["card"] = map[string]any{"token": fmt.Sprintf("tok_%010x", dice.Uint64()>>24), "last4": fmt.Sprintf("%04d", dice.IntN(10000))}
	case "refund.pay":
		fields["amount"], fields["currency"] = 500+dice.IntN(9000), "EUR"
		fields["charge"] = fmt.Sprintf("ch_%d", 5000+dice.IntN(3000))
	case "invoice.send", "mail.send", "sms.send":
		fields["template"], fields["locale"] = k.Prefix+"-2024", []string{"en", "de", "fr", "pt-BR"}[dice.IntN(4)]
	case "report.build":
		fields["month"], fields["rows"] = fmt.Sprintf("2024-%02d", 1+dice.IntN(12)), 10000+dice.IntN(90000)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	return text
}
