package actions

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"jobtop/store"
)

// openAct is an act whose outcome the operator does not know.
type openAct struct {
	result Result
	send   call // nil, or the act itself, which may still arrive
}

// modelDraw are the verbs, as often as they are used.
var modelDraw = []Verb{VerbRequeue, VerbHold, VerbDead, VerbRequeue, VerbDone, VerbHold, VerbDead, VerbRequeue}

// order makes an order as somebody would who saw the job now; or a while ago, or who
// did not confirm.
func (p *play) order(v move) Order {
	id := p.ids[v.Job]
	seen := p.seen[id][len(p.seen[id])-1]
	if v.A >= 21 {
		seen = p.seen[id][v.B%len(p.seen[id])]
	}
	o := Order{ActionID: uuid.NewString(), Verb: modelDraw[v.A%8], JobID: id, SeenState: State(seen.state), SeenVersion: seen.version, Reason: "a play"}
	switch v.B % 6 {
	case 0, 1:
		o.Confirmations = []string{MayHaveHappened}
	case 2:
		o.Confirmations = []string{Stop}
	case 3:
		o.Confirmations = []string{MayHaveHappened, Stop}
	}
	if o.Verb == VerbDone {
		o.ReceiptID = "rc-" + id
		if v.B%4 == 0 {
			o.ReceiptID = "rc-" + p.name
		}
	}
	return o
}

// told compares a report with what the model says.
func (p *play) told(r Result, want modelAction) error {
	outcomes := map[string]Outcome{"applied": Applied, "refused": Refused, "void": NotHappened}
	j, a := p.jobs[r.Order.JobID], r.Answer
	return mismatch(fmt.Sprintf("report of %s of %s at %d (%v)", r.Order.Verb, j.ID, r.Order.SeenVersion, r.Err),
		fmt.Sprintf("%s %s %d, %s %d %s", r.Outcome, str(a.Refusal), value(a.ToVersion), str(a.State), value(a.Version), str(a.Verdict)),
		fmt.Sprintf("%s %s %d, %s %d %s", outcomes[want.Outcome], want.Refusal, want.Version, j.State, j.Version, p.verdict(j)))
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// hushed is an answer that does not come, from a server that it makes no sense to ask.
func hushed(call) (store.ActAnswer, error) { return store.ActAnswer{}, store.ErrSchema }

// operator does what operators do.
func (p *play) operator(v move) error {
	switch v.Do {
	case "act", "act, answer lost", "act, lost", "act, late", "act, late, unknown", "act, answer lost, unknown", "act, lost, unknown":
		return p.actOnce(v)
	case "arrive":
		return p.arrive(v.A)
	case "settle":
		return p.settleOne(v.A)
	case "restart":
		return p.restart()
	case "repeat", "reuse":
		return p.again(v)
	}
	return fmt.Errorf("nobody does %q", v.Do)
}

func (p *play) actOnce(v move) error {
	o := p.order(v)
	var late call
	p.fake.onAct, p.fake.onAsk = nil, nil
	lands := true
	switch v.Do {
	case "act":
	case "act, answer lost", "act, answer lost, unknown":
		p.fake.onAct = cutAfter
	default: // lost, and perhaps only late
		lands = false
		p.fake.onAct = func(next call) (store.ActAnswer, error) {
			late = next
			return store.ActAnswer{}, &store.UnknownError{}
		}
	}
	unknown := slices.Contains([]string{"act, late, unknown", "act, answer lost, unknown", "act, lost, unknown"}, v.Do)
	if unknown {
		p.fake.onAsk = hushed
	}
	result := p.runner.Run(context.Background(), o)
	p.fake.onAct, p.fake.onAsk = nil, nil
	if lands {
		p.act(o, p.runner.Operator)
	}
	if !slices.Contains([]string{"act, late", "act, late, unknown"}, v.Do) {
		late = nil
	}
	if unknown {
		p.open = append(p.open, openAct{result, late})
		return mismatch("outcome, with nobody to ask", result.Outcome, Unknown)
	}
	if late != nil {
		p.stray = append(p.stray, openAct{result, late})
	}
	p.done = append(p.done, o)
	return p.told(result, p.settle(o))
}

// arrive lets an act arrive that was on its way: after its outcome was reported, or
// while it is not known.
func (p *play) arrive(n int) error {
	var late []*openAct
	for _, list := range [][]openAct{p.stray, p.open} {
		for i := range list {
			if list[i].send != nil {
				late = append(late, &list[i])
			}
		}
	}
	if len(late) == 0 {
		return nil
	}
	act := late[n%len(late)]
	answer, err := act.send()
	act.send = nil
	if err != nil {
		return err
	}
	return p.told(Result{Order: act.result.Order, Outcome: outcomeOf(answer), Answer: answer}, p.act(act.result.Order, p.runner.Operator))
}

// settleOne asks again about an act that is unknown.
func (p *play) settleOne(n int) error {
	if len(p.open) == 0 {
		return nil
	}
	n %= len(p.open)
	act := p.open[n]
	p.open = slices.Delete(p.open, n, n+1)
	act.result = p.runner.Settle(context.Background(), act.result)
	p.stray, p.done = append(p.stray, act), append(p.done, act.result.Order)
	return p.told(act.result, p.settle(act.result.Order))
}

// restart kills the console, and lets the next one find what the journal holds.
func (p *play) restart() error {
	if err := p.runner.Journal.Close(); err != nil {
		return err
	}
	p.console()
	results, err := p.runner.Recover(context.Background())
	if err != nil {
		return err
	}
	if err := mismatch("acts in the journal", len(results), len(p.open)); err != nil {
		return err
	}
	for _, r := range results {
		i := slices.IndexFunc(p.open, func(a openAct) bool { return a.result.Order.ActionID == r.Order.ActionID })
		if i < 0 {
			return fmt.Errorf("the journal held %s, which is not open", r.Order.ActionID)
		}
		act := p.open[i]
		p.open = slices.Delete(p.open, i, i+1)
		p.stray, p.done = append(p.stray, act), append(p.done, act.result.Order)
		r.Order.SeenVersion = act.result.Order.SeenVersion
		if err := p.told(r, p.settle(act.result.Order)); err != nil {
			return err
		}
	}
	return nil
}

// again sends an act that has been reported once more: as it was, or with its key for
// something else.
func (p *play) again(v move) error {
	if len(p.done) == 0 {
		return nil
	}
	o := p.done[v.A%len(p.done)]
	stands := p.acts[o.ActionID]
	if v.Do == "reuse" {
		o.Reason = "another"
		if stands.Outcome != "void" {
			result := p.runner.Run(context.Background(), o)
			return mismatch("outcome of a key used again", result.Outcome, Errored)
		}
	}
	return p.told(p.runner.Run(context.Background(), o), p.act(o, p.runner.Operator))
}
