package actions

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store/sandbox/faultproxy"
)

// scene is one act, and what is to befall it.
type scene struct {
	c     *campaign
	o     *operator
	rng   *rand.Rand
	order *Order
	after []func() // run when its outcome is reported
}

func (s *scene) then(do func()) { s.after = append(s.after, do) }

// campaignFault is one way in which an act can go wrong. Weight is how often it comes.
type campaignFault struct {
	name    string
	weight  int
	arrange func(*scene)
}

var campaignFaults = []campaignFault{
	{"none", 5, func(*scene) {}},
	{"dropped before", 10, func(s *scene) { s.strike(faultproxy.DropBefore) }},
	{"half sent", 5, func(s *scene) { s.strike(faultproxy.HalfSent) }},
	{"forwarded, then cut", 12, func(s *scene) { s.strike(faultproxy.ForwardThenCut) }},
	{"cut within the answer", 6, func(s *scene) { s.strike(faultproxy.CutAnswer) }},
	{"delivered late", 18, (*scene).late},
	{"black hole", 8, (*scene).blackHole},
	{"slow", 4, (*scene).slow},
	{"connections cut while idle", 5, func(s *scene) { s.o.proxy.CutIdle() }},
	{"backend terminated", 10, (*scene).terminate},
	{"lock timeout", 4, (*scene).lockTimeout},
	{"statement timeout", 1, func(s *scene) { s.order.Reason = slowAct }},
	{"commit that takes too long", 1, func(s *scene) { s.order.Reason = slowCommit }}, // no statement timeout ends it
	{"server stopped", 0, func(s *scene) { s.outage(s.c.server.Halt) }},
	{"server killed", 0, func(s *scene) { s.outage(func(context.Context) error { return s.c.server.Crash() }) }},
}

var (
	anAct   = faultproxy.Holding("jobtop.act(")
	aSettle = faultproxy.Holding("jobtop.settle(")
)

// fault orders one for a request of this act, and takes it back afterwards.
func (s *scene) fault(match func(faultproxy.Request) bool, f faultproxy.Fault) *faultproxy.Strike {
	strike := s.o.proxy.Next(match, f)
	s.then(func() { strike.Withdraw() })
	return strike
}

func (s *scene) strike(f faultproxy.Fault) *faultproxy.Strike {
	strike := s.fault(anAct, f)
	s.spoilSettle()
	return strike
}

// spoilSettle lets the first settle go wrong, too, now and then.
func (s *scene) spoilSettle() {
	faults := []faultproxy.Fault{faultproxy.DropBefore, faultproxy.ForwardThenCut, faultproxy.CutAnswer, faultproxy.HoldRequest}
	for s.rng.IntN(3) == 0 {
		f := faults[s.rng.IntN(len(faults))]
		strike := s.fault(aSettle, f)
		if f == faultproxy.HoldRequest {
			s.within(strike.Reached(), func() { pauseFor(s.rng.IntN(60)); strike.Cut() })
		}
	}
}

func pauseFor(milliseconds int) {
	pause(context.Background(), time.Duration(milliseconds)*time.Millisecond)
}

// within does something as soon as something happens, if it does before the outcome is
// reported. The scene does not end before it is done.
func (s *scene) within(happens <-chan struct{}, do func()) {
	reported, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-happens:
			do()
		case <-reported:
		}
	}()
	s.then(func() { close(reported); <-done })
}

// late delivers the act when its client is gone: at once, after a while, together with
// the settle, after the report, or so that it waits for the job's lock while settle runs.
func (s *scene) late() {
	strike := s.fault(anAct, faultproxy.Late)
	s.then(func() {
		strike.Withdraw()
		strike.Release()
		<-strike.Over()
	})
	switch s.rng.IntN(5) {
	case 0:
		strike.Release()
		s.spoilSettle()
	case 1:
		wait := s.rng.IntN(150)
		s.within(strike.Reached(), func() { pauseFor(wait); strike.Release() })
		s.spoilSettle()
	case 2:
		settle := s.fault(aSettle, faultproxy.HoldRequest)
		s.within(settle.Reached(), func() { go settle.Release(); strike.Release() })
	case 3:
		s.spoilSettle()
	default:
		free := s.hold("SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", s.order.JobID)
		strike.Release()
		settle := s.fault(aSettle, faultproxy.HoldAnswer)
		s.within(settle.Reached(), func() { free(); settle.Release() })
	}
}

// hold keeps a transaction of somebody else open, until it is freed or the scene ends.
func (s *scene) hold(sql string, arguments ...any) (free func()) {
	var tx pgx.Tx
	s.c.persist("holding a lock", func(ctx context.Context) (err error) {
		if tx, err = s.c.direct.Begin(context.Background()); err != nil {
			return err
		}
		if _, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '5s'"); err == nil {
			_, err = tx.Exec(ctx, sql, arguments...)
		}
		if err != nil {
			_ = tx.Rollback(ctx)
		}
		return err
	})
	free = func() { _ = tx.Rollback(context.Background()) }
	s.then(free)
	return free
}

// blackHole keeps the act for a while, or longer than the client waits, or swallows all
// that comes, new connections included.
func (s *scene) blackHole() {
	switch n := s.rng.IntN(16); n {
	case 0:
		end := s.o.proxy.BlackHole()
		timer := time.AfterFunc(time.Duration(s.rng.IntN(2500))*time.Millisecond, end)
		s.then(func() { timer.Stop(); end() })
	case 1: // the answer is swallowed
		strike := s.strike(faultproxy.HoldAnswer)
		s.then(strike.Cut)
	case 2:
		strike := s.strike(faultproxy.HoldRequest)
		s.then(strike.Cut)
	default:
		strike := s.strike([]faultproxy.Fault{faultproxy.HoldRequest, faultproxy.HoldAnswer}[n%2])
		wait := s.rng.IntN(100)
		s.within(strike.Reached(), func() { pauseFor(wait); strike.Cut() })
	}
}

func (s *scene) slow() {
	strike := s.fault(anAct, []faultproxy.Fault{faultproxy.HoldRequest, faultproxy.HoldAnswer}[s.rng.IntN(2)])
	wait := s.rng.IntN(100)
	s.within(strike.Reached(), func() { pauseFor(wait); strike.Release() })
}

// terminate ends the operator's backends: while idle, while the act waits for a lock,
// in the middle of its commit, or when it has just been sent.
func (s *scene) terminate() {
	const end = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid() AND state = 'idle'`
	const endWaiting = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = $2 AND state = 'active'`
	var ended int
	kill := func(kind string) {
		s.during(func() bool {
			s.c.read([]any{&ended}, endWaiting, s.o.name, kind)
			return ended > 0
		})
	}
	switch s.rng.IntN(4) {
	case 0:
		s.c.read([]any{&ended}, end, s.o.name)
	case 1:
		s.hold("SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", s.order.JobID)
		kill("Lock")
	case 2:
		s.order.Reason = slowCommit
		kill("Timeout")
	default:
		strike, wait := s.fault(anAct, faultproxy.HoldRequest), s.rng.IntN(6)
		s.within(strike.Reached(), func() {
			go strike.Release()
			pauseFor(wait)
			s.c.read([]any{&ended}, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = $1`, s.o.name)
		})
	}
}

// during does something again and again until it is done, or the outcome is reported.
func (s *scene) during(do func() bool) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for !do() && pause(ctx, 5*time.Millisecond) {
		}
	}()
	s.then(func() { cancel(); <-done })
}

// lockTimeout keeps the job's lock, or the act's key, from the act.
func (s *scene) lockTimeout() {
	if s.rng.IntN(2) == 0 {
		s.hold("SELECT FROM jobtop.jobs WHERE id = $1 FOR UPDATE", s.order.JobID)
		return
	}
	s.hold("SELECT jobtop.settle($1::text::uuid, $2::text, $3::text, 'somebody')", s.order.ActionID, string(s.order.Verb), s.order.JobID)
}

// outage stops the server while the act is before it, in it, or committed and not yet
// answered, and starts it again. Nobody begins anything meanwhile.
func (s *scene) outage(stop func(context.Context) error) {
	s.c.gate.shut()
	s.then(s.c.gate.lift)
	f := []faultproxy.Fault{faultproxy.HoldRequest, faultproxy.HoldRequest, faultproxy.HoldAnswer}[s.rng.IntN(3)]
	strike, wait := s.fault(anAct, f), s.rng.IntN(6)
	inIt := s.rng.IntN(3) > 0
	s.within(strike.Reached(), func() {
		if f == faultproxy.HoldRequest && inIt {
			go strike.Release()
			pauseFor(wait)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		if err := stop(ctx); err != nil {
			panic(err)
		}
		strike.Release()
		if err := s.c.server.Restart(ctx); err != nil {
			panic(err)
		}
	})
}
