package actions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Moves in which one side stands at a lock that the other holds, and goes on when that
// commits, or rolls back.

const heldActSQL = `SELECT concat_ws(' ', a.outcome, a.refusal) FROM jobtop.act($1::text::uuid, $2::text, $3::text, $4::text, $5::bigint, 'alice', $6::text,
	receipt_id => $7::text, confirmations => $8::text[], client => 'test') a`

func (a modelAction) words() string { return strings.TrimSpace(a.Outcome + " " + a.Refusal) }

// hear waits for an answer.
func hear(what string, got <-chan answer, want string) error {
	select {
	case a := <-got:
		return errors.Join(a.err, mismatch(what, a.text, want))
	case <-time.After(time.Minute):
		return fmt.Errorf("%s: no answer", what)
	}
}

// stands returns once the second session stands at a lock.
func (p *play) stands(got <-chan answer) (<-chan answer, error) {
	for {
		var waits bool
		err := p.pool.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", int64(p.second.pid)).Scan(&waits)
		if err != nil || waits {
			return got, err
		}
		select {
		case a := <-got:
			return nil, errors.Join(fmt.Errorf("it did not wait, and was answered %q", a.text), a.err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (p *play) waiting(v move) error {
	o := p.order(v)
	commits := v.B%4 > 0
	end := map[bool]string{true: "COMMIT", false: "ROLLBACK"}[commits]
	acting := func(s *session, o Order) <-chan answer { return s.call(heldActSQL, o.arguments()...) }
	settling := func(s *session) <-chan answer {
		return s.call("SELECT a.outcome FROM jobtop.settle($1::text::uuid, $2::text, $3::text, 'alice') a", o.ActionID, string(o.Verb), o.JobID)
	}
	if p.jobs[o.JobID].State == "running" && v.Token < 4 {
		p.silence(o.JobID)
	}
	p.first.exec("BEGIN")
	switch v.Do {
	case "act waits for a worker":
		held, want := p.holding(v, o.JobID)
		if err := hear("the worker", held, want(false)); err != nil {
			return err
		}
		acted, err := p.stands(acting(p.second, o))
		if err != nil {
			return err
		}
		p.first.exec(end)
		if commits {
			want(true)
		}
		return hear("the act that waited", acted, p.act(o, "alice").words())
	case "act waits for an operator":
		other := p.order(move{Job: v.Job, A: v.B % 4, B: v.A % 6})
		acted := acting(p.first, other)
		was := p.copy()
		want := p.act(other, "alice").words()
		if err := hear("the first", acted, want); err != nil {
			return err
		}
		acted, err := p.stands(acting(p.second, o))
		if err != nil {
			return err
		}
		p.first.exec(end)
		if !commits {
			p.model = was
		}
		return hear("the act that waited", acted, p.act(o, "alice").words())
	case "settle waits for the act":
		acted := acting(p.first, o)
		was := p.copy()
		want := p.act(o, "alice").words()
		if err := hear("the act", acted, want); err != nil {
			return err
		}
		settled, err := p.stands(settling(p.second))
		if err != nil {
			return err
		}
		p.first.exec(end)
		if !commits {
			p.model = was
		}
		return hear("the settle that waited", settled, p.settle(o).Outcome)
	default: // act waits for the settle
		if err := hear("the settle", settling(p.first), "void"); err != nil {
			return err
		}
		acted, err := p.stands(acting(p.second, o))
		if err != nil {
			return err
		}
		p.first.exec(end)
		if commits {
			p.settle(o)
		}
		return hear("the act that waited", acted, p.act(o, "alice").words())
	}
}

// holding has a worker say something about a job in an open transaction. want tells
// what it is answered, and whether the model is to take it over.
func (p *play) holding(v move, id string) (held <-chan answer, want func(keep bool) string) {
	token := p.token(id, v.Token)
	receipt := "rc-" + id
	effect := modelEffects[v.B%3]
	var say func(*model) string
	switch v.A % 3 {
	case 0:
		held = p.first.call("SELECT answer FROM jobtop.record_intent($1, $2::text::uuid)", id, token)
		say = func(m *model) string { answer, _ := m.begin(id, token); return answer }
	case 1:
		held = p.first.call("SELECT jobtop.complete($1, $2::text::uuid, $3)", id, token, receipt)
		say = func(m *model) string { return m.complete(id, token, receipt) }
	default:
		held = p.first.call("SELECT jobtop.fail($1, $2::text::uuid, $3, base => 0, cap => 0)", id, token, effect)
		say = func(m *model) string { return m.fail(id, token, effect, true) }
	}
	return held, func(keep bool) string {
		if keep {
			return say(p.model)
		}
		return say(p.copy())
	}
}

// copy is the model as it is now.
func (m *model) copy() *model {
	c := &model{jobs: map[string]*modelJob{}, paused: map[string]bool{}, acts: map[string]modelAction{}}
	for id, j := range m.jobs {
		k := *j
		k.Attempts, k.Late, k.Actions = append([]modelAttempt(nil), j.Attempts...), append([]modelLate(nil), j.Late...), append([]modelAction(nil), j.Actions...)
		if j.Receipt != nil {
			r := *j.Receipt
			k.Receipt = &r
		}
		c.jobs[id] = &k
	}
	for kind, is := range m.paused {
		c.paused[kind] = is
	}
	for id, a := range m.acts {
		c.acts[id] = a
	}
	return c
}
