package actions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jobtop/store"
)

var anOrder = Order{Verb: VerbDead, JobID: "charge-1", SeenState: Review, SeenVersion: 3, Reason: "ticket 5512"}

// An answer that was lost after the act had landed: settled as applied, once.
func TestLostAnswerOfWhatHappened(t *testing.T) {
	t.Parallel()
	for _, v := range Verbs() {
		t.Run(string(v), func(t *testing.T) {
			l := newLedger(t)
			id, _ := l.bring(map[bool]State{true: Failed, false: Review}[v == VerbHold], false)
			before := l.see(id)
			r := l.runner("alice")
			r.DB = &fake{Database: l.db, onAct: cutAfter, onAsk: first(3, cutAfter, through)}
			result := l.must(r, l.order(v, id), Applied)
			if !result.Settled || result.Failover || result.JournalErr != nil {
				t.Errorf("%+v", result)
			}
			after := l.see(id)
			if State(after.State) != v.Target() || after.Version != before.Version+1 {
				t.Errorf("it is %s, version %d", after.State, after.Version)
			}
			if got := l.get("SELECT count(*) || ' ' || min(outcome) FROM jobtop.actions WHERE job_id = $1", id); got != "1 applied" {
				t.Errorf("recorded: %s", got)
			}
			if pending, err := r.Journal.Pending(); err != nil || len(pending) != 0 {
				t.Errorf("the journal still holds %v, %v", pending, err)
			}
		})
	}
}

// An act that never arrived: settled as not having happened, and it never will, even
// if it arrives after all.
func TestLostActThatNeverHappened(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	before := l.row(id)
	r := l.runner("alice")
	spoiled := &fake{Database: l.db, onAct: cutBefore}
	r.DB = spoiled
	result := l.must(r, l.order(VerbDead, id), NotHappened)
	if line := Explain(result); line != "the answer was lost; "+id+" was not marked dead, and will not be by that act; it is in review, version 3" {
		t.Errorf("explained as %q", line)
	}

	late, err := l.db.Act(context.Background(), spoiled.acts[0])
	if err != nil || late.Outcome != "void" {
		t.Errorf("the late act was answered with %+v, %v", late, err)
	}
	if after := l.row(id); after != before {
		t.Errorf("it changed all the same:\n%s\n%s", before, after)
	}
	if ExitStatus([]Result{result}) != 1 {
		t.Errorf("exit status %d", ExitStatus([]Result{result}))
	}
}

// Whoever sent an act is told that its answer was lost, and only then.
func TestRunTellsOfALostAnswer(t *testing.T) {
	l := newLedger(t)
	r := l.runner("alice")
	for want, onAct := range []func(call) (store.ActAnswer, error){nil, cutAfter} {
		id, _ := l.bring(Review, false)
		r.DB = &fake{Database: l.db, name: "orders", onAct: onAct}
		told := 0
		if result := r.RunTelling(context.Background(), l.order(VerbRequeue, id), func() { told++ }); result.Outcome != Applied || told != want {
			t.Errorf("%s, told %d times and not %d", result.Outcome, told, want)
		}
	}
}

// While nobody answers, the outcome is unknown after SettleFor and no sooner, the
// journal keeps it, and a later Settle finds out.
func TestUnknownUntilSomebodyAnswers(t *testing.T) {
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	o := l.order(VerbRequeue, id)
	r := l.runner("alice")
	away := &fake{Database: l.db, name: "orders", onAct: cutAfter, onAsk: cutBefore}
	r.DB, r.SettleFor = away, 300*time.Millisecond
	result := l.must(r, o, Unknown)
	if line := Explain(result); !strings.HasPrefix(line, "unknown: "+id+" may have been requeued (action "+result.Order.ActionID+")") {
		t.Errorf("explained as %q", line)
	}
	if ExitStatus([]Result{result, {Outcome: Errored}, {Outcome: Refused}}) != 4 {
		t.Error("unknown must be the exit status before all others")
	}
	if pending, err := r.Journal.Pending(); err != nil || len(pending) != 1 || pending[0].ActionID != result.Order.ActionID {
		t.Fatalf("the journal holds %v, %v", pending, err)
	}

	away.onAsk, r.SettleFor = through, time.Minute
	result = r.Settle(context.Background(), result)
	if result.Outcome != Applied || !result.Settled || l.state(id) != Pending {
		t.Errorf("settled as %s; it is %s", Explain(result), l.state(id))
	}
	if pending, err := r.Journal.Pending(); err != nil || len(pending) != 0 {
		t.Errorf("the journal still holds %v, %v", pending, err)
	}
}

// Only the type of an error decides. These all say the same words.
func TestErrorsAreToldApartByType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			act, ask error
			want     Outcome
			settles  bool
		}{
			{errors.New("conn closed"), nil, Errored, false},
			{&store.Problem{What: "conn closed"}, nil, Errored, false},
			{&store.UnknownError{}, nil, NotHappened, true},
			{errors.Join(errors.New("conn closed"), &store.UnknownError{}), nil, NotHappened, true},
			{&store.UnknownError{}, &store.UnknownError{}, Unknown, true},
			{&store.UnknownError{}, errors.New("conn closed"), Unknown, true},
			{&store.UnknownError{}, &store.SchemaError{}, Unknown, true},
		} {
			f := &fake{name: "orders",
				onAct: func(call) (store.ActAnswer, error) { return store.ActAnswer{}, test.act },
				onAsk: func(call) (store.ActAnswer, error) { return store.ActAnswer{Outcome: "void"}, test.ask }}
			result := (&Runner{DB: f, Operator: "alice"}).Run(t.Context(), anOrder)
			if result.Outcome != test.want || result.Settled != (test.want == NotHappened) {
				t.Errorf("%T then %T: %s", test.act, test.ask, Explain(result))
			}
			if acts, asked := f.count(); acts != 1 || asked > 0 != test.settles {
				t.Errorf("%T then %T: %d acts, %d settles", test.act, test.ask, acts, asked)
			}
		}
	})
}

// Settling waits in between, longer and longer, never in step, and ends in time.
func TestSettleRetriesAreBoundedAndJittered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		f := &fake{name: "orders", onAct: cutBefore, onAsk: func(call) (store.ActAnswer, error) {
			at = append(at, time.Since(start))
			return store.ActAnswer{}, &store.UnknownError{}
		}}
		result := (&Runner{DB: f, Operator: "alice"}).Run(t.Context(), anOrder)
		if result.Outcome != Unknown || time.Since(start) != DefaultSettleFor {
			t.Errorf("%s after %s", result.Outcome, time.Since(start))
		}
		if len(at) < 12 || len(at) > 40 || at[0] != 0 {
			t.Errorf("asked %d times: %v", len(at), at)
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 50*time.Millisecond || gap > 3*time.Second {
				t.Errorf("waited %s before try %d", gap, i)
			}
		}
	})
	equal := 0
	for range 50 {
		if one, other := backoff(3), backoff(3); one == other {
			equal++
		}
	}
	if equal > 5 {
		t.Errorf("%d of 50 waits were equal", equal)
	}
	for tries := range 1000 {
		if d := backoff(tries); d < 50*time.Millisecond || d > 3*time.Second {
			t.Errorf("%s after %d tries", d, tries)
		}
	}
}

// Somebody who leaves is not kept waiting, and is not told more than is known.
func TestCancelledSearchStaysUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := &fake{name: "orders", onAct: cutBefore, onAsk: cutBefore}
		r := &Runner{DB: f, Operator: "alice", Journal: NewJournal(t.TempDir())}
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		result := r.Run(ctx, anOrder)
		if result.Outcome != Unknown || time.Since(start) != time.Second {
			t.Errorf("%s after %s", result.Outcome, time.Since(start))
		}
		if pending, _ := r.Journal.Pending(); len(pending) != 1 {
			t.Errorf("the journal holds %v", pending)
		}
		if result := r.Run(ctx, anOrder); result.Outcome != NotSent {
			t.Errorf("an order after that: %s", result.Outcome)
		}
		if acts, _ := f.count(); acts != 1 {
			t.Errorf("%d acts were sent", acts)
		}
	})
}

// After a failover the answer is taken from the present primary, and says so.
func TestFailoverIsTold(t *testing.T) {
	f := &fake{name: "orders", line: 1, onAct: cutBefore}
	f.onAsk = func(call) (store.ActAnswer, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.line == 1 {
			f.line = 2 // the old primary's last word
			return store.ActAnswer{Outcome: "applied"}, nil
		}
		return store.ActAnswer{Outcome: "void"}, nil
	}
	r := &Runner{DB: f, Operator: "alice"}
	result := r.Run(t.Context(), anOrder)
	if result.Outcome != NotHappened || !result.Failover || !strings.HasSuffix(Explain(result), "that is how the present primary has it, after a failover") {
		t.Errorf("%s", Explain(result))
	}
	f.onAct, f.onAsk = cutBefore, says("applied")
	if result := r.Run(t.Context(), anOrder); result.Outcome != Applied || result.Failover || !result.Settled {
		t.Errorf("the next act, with no failover in between: %s", Explain(result))
	}
}

// Whatever is lost, and however often: the report is what the database holds.
func TestReportsEqualTheRecord(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	rapid.Check(t, func(t *rapid.T) {
		l := base.in(t)
		id, _ := l.bring(rapid.SampledFrom([]State{Pending, Failed, Review, Dead}).Draw(t, "state"), false)
		r := l.runner("alice")
		cut := rapid.SampledFrom([]func(call) (store.ActAnswer, error){cutBefore, cutAfter, through})
		fates := rapid.SliceOfN(cut, 0, 4).Draw(t, "fates")
		r.DB = &fake{Database: l.db, onAct: cut.Draw(t, "act"), onAsk: func(next call) (store.ActAnswer, error) {
			if len(fates) == 0 {
				return next()
			}
			fate := fates[0]
			fates = fates[1:]
			return fate(next)
		}}
		o := l.order(rapid.SampledFrom(Verbs()).Draw(t, "verb"), id)
		if rapid.IntRange(0, 3).Draw(t, "old") == 0 {
			o.SeenVersion++
		}
		before := l.see(id)
		result := r.Run(context.Background(), o)
		after := l.see(id)
		changed := after.Version == before.Version+1 && State(after.State) == o.Verb.Target()
		same := after.Version == before.Version && after.State == before.State
		switch result.Outcome {
		case Applied:
			if !changed {
				t.Fatalf("reported %q, but %+v", Explain(result), after)
			}
		case Refused, NotHappened:
			if !same {
				t.Fatalf("reported %q, but %+v", Explain(result), after)
			}
		default:
			t.Fatalf("reported %q", Explain(result))
		}
	})
}

func TestRunAllStopsBetweenJobs(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	var orders []Order
	for range 5 {
		id, _ := l.bring(Review, false)
		orders = append(orders, l.order(VerbRequeue, id))
	}
	orders[1].SeenVersion++ // will be refused, and stops nobody else
	orders = append(orders, Order{Verb: VerbDead, JobID: "none", SeenState: Dead, SeenVersion: 1, Reason: "x"})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var told []Outcome
	results := l.runner("alice").RunAll(ctx, Spread(orders, time.Hour), func(done int, r Result) {
		told = append(told, r.Outcome)
		if done != len(told) {
			t.Errorf("told %d after %d", done, len(told))
		}
		if done == 3 {
			stop()
		}
	})
	want := []Outcome{Applied, Refused, Applied, NotSent, NotSent, NotSent}
	for i, r := range results {
		if r.Outcome != want[i] || told[i] != want[i] || r.Order.JobID != orders[i].JobID {
			t.Errorf("%d: %s", i, Explain(r))
		}
	}
	if len(results) != len(orders) || ExitStatus(results) != 1 {
		t.Errorf("%d results, exit status %d", len(results), ExitStatus(results))
	}
	for i, o := range orders[:5] {
		state := map[bool]State{true: Pending, false: Review}[want[i] == Applied]
		if l.state(o.JobID) != state {
			t.Errorf("%s is %s", o.JobID, l.state(o.JobID))
		}
	}
	// Spread over an hour, the third of six is claimed 20 minutes from now.
	if got := l.get("SELECT round(extract(epoch FROM run_at - state_changed_at) / 60)::text FROM jobtop.jobs WHERE id = $1", orders[2].JobID); got != "20" {
		t.Errorf("the third is due in %s minutes", got)
	}
}

// A stop does not leave the job under way half known.
func TestRunAllSettlesTheJobUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		f := &fake{name: "orders"}
		f.onAct = func(call) (store.ActAnswer, error) { stop(); return store.ActAnswer{}, &store.UnknownError{} }
		f.onAsk = first(5, cutBefore, says("applied"))
		results := (&Runner{DB: f, Operator: "alice"}).RunAll(ctx, []Order{anOrder, anOrder}, nil)
		if results[0].Outcome != Applied || results[1].Outcome != NotSent {
			t.Errorf("%s; %s", Explain(results[0]), Explain(results[1]))
		}
	})
}

func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2000).Draw(t, "orders")
		over := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "over"))
		orders := Spread(make([]Order, n), over)
		if len(orders) != n {
			t.Fatalf("%d orders", len(orders))
		}
		for i, o := range orders {
			if i == 0 && o.Delay != 0 || o.Delay < 0 || o.Delay > over || i > 0 && o.Delay < orders[i-1].Delay {
				t.Fatalf("%d waits %s", i, o.Delay)
			}
		}
	})
}

func TestExitStatus(t *testing.T) {
	for _, test := range []struct {
		outcomes []Outcome
		want     int
	}{
		{nil, 0},
		{[]Outcome{Applied, Applied}, 0},
		{[]Outcome{Applied, Refused}, 3},
		{[]Outcome{Refused, Errored, Applied}, 1},
		{[]Outcome{Refused, NotSent}, 1},
		{[]Outcome{NotHappened}, 1},
		{[]Outcome{Errored, Refused, Unknown, Applied}, 4},
	} {
		var results []Result
		for _, o := range test.outcomes {
			results = append(results, Result{Outcome: o})
		}
		if got := ExitStatus(results); got != test.want {
			t.Errorf("%v: %d, want %d", test.outcomes, got, test.want)
		}
	}
}
