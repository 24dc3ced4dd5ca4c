package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"jobtop/store"
)

// move is one thing that somebody does. The numbers choose among what there is then.
type move struct {
	Do               string
	Job, Token, A, B int
}

// script is a set of jobs and what is done to them.
type script struct {
	Max   [3]int
	Moves []move
}

// moves is what can be done, as often as it is listed.
var moves = []string{
	"claim", "claim", "claim", "heartbeat", "begin", "begin", "begin", "complete", "next", "next", "fail", "fail", "silence", "silence", "by hand", "pause",
	"act", "act", "act", "act", "act, answer lost", "act, lost", "act, late", "act, late, unknown", "act, answer lost, unknown", "act, lost, unknown",
	"arrive", "arrive", "settle", "restart", "repeat", "reuse",
	"act waits for a worker", "act waits for a worker", "act waits for an operator", "settle waits for the act", "act waits for the settle",
}

var scripts = rapid.Custom(func(t *rapid.T) script {
	moved := rapid.Custom(func(t *rapid.T) move {
		return move{
			Do:  rapid.SampledFrom(moves).Draw(t, "do"),
			Job: rapid.IntRange(0, 2).Draw(t, "job"), Token: rapid.IntRange(0, 5).Draw(t, "token"),
			A: rapid.IntRange(0, 23).Draw(t, "a"), B: rapid.IntRange(0, 23).Draw(t, "b"),
		}
	})
	var s script
	for i := range s.Max {
		s.Max[i] = rapid.IntRange(1, 3).Draw(t, "attempts")
	}
	s.Moves = rapid.SliceOfN(moved, 20, 60).Draw(t, "moves")
	return s
})

// mismatch is an error when an answer is not what the model says.
func mismatch(what string, got, want any) error {
	if got != want {
		return fmt.Errorf("%s: %v; the model says %v", what, got, want)
	}
	return nil
}

// token chooses a token for a job: mostly the one that holds it, or else one that did,
// or one that never claimed.
func (p *play) token(id string, n int) string {
	j := p.jobs[id]
	switch {
	case n < 4 && j.Attempt > 0:
		return j.attempt().Token
	case n < 5 && len(p.tokens) > 0:
		return p.tokens[len(p.tokens)/2]
	}
	return uuid.NewString()
}

func (p *play) receipt(id string, n int) string {
	return []string{"rc-" + id, "rc-" + id, "rc-" + id, "rc-" + p.name, ""}[n%5]
}

var modelEffects = []string{store.EffectNotBegun, store.EffectRefused, store.EffectUnknown}

// worker does what workers do, and what time and people at a prompt do.
func (p *play) worker(v move) error {
	ctx, id, token := context.Background(), p.ids[v.Job], p.token(p.ids[v.Job], v.Token)
	switch v.Do {
	case "claim":
		return p.claim(v)
	case "heartbeat":
		held, err := p.db.Heartbeat(ctx, store.Beat{JobID: id, Token: token})
		return errors.Join(err, mismatch("heartbeat", held, p.heartbeat(id, token)))
	case "begin":
		got, err := p.db.BeginEffect(ctx, id, token)
		answer, receipt := p.model.begin(id, token)
		return errors.Join(err, mismatch("begin_effect", got.Answer+" "+got.ReceiptID, answer+" "+receipt))
	case "complete":
		receipt := p.receipt(id, v.A)
		got, err := p.db.Complete(ctx, store.Completion{JobID: id, Token: token, ReceiptID: receipt})
		return errors.Join(err, mismatch("complete", got, p.model.complete(id, token, receipt)))
	case "next":
		return p.next(v, id, token)
	case "fail":
		effect, retry := modelEffects[v.A%3], v.B%4 > 0
		got, err := p.db.Fail(ctx, store.Failure{JobID: id, Token: token, Effect: effect, Retry: retry, Backoff: &store.Backoff{}})
		return errors.Join(err, mismatch("fail", got, p.model.fail(id, token, effect, retry)))
	case "silence":
		p.silence(id)
		return nil
	case "pause":
		kind := p.jobs[id].Kind
		request := store.PauseRequest{ActionID: uuid.NewString(), Kind: kind, Operator: "bob", Reason: "a play"}
		set := p.db.Pause
		if p.paused[kind] {
			set = p.db.Resume
		}
		p.paused[kind] = !p.paused[kind]
		did, err := set(ctx, request)
		return errors.Join(err, mismatch("pause or resume", did, true))
	case "by hand":
		return p.byHand(id, string(States()[v.A%6]))
	}
	return fmt.Errorf("no worker does %q", v.Do)
}

// silence lets an hour go by without a heartbeat.
func (p *play) silence(id string) {
	p.ledger.silence(id)
	p.jobs[id].silent = true
}

func (p *play) claim(v move) error {
	token, fresh := p.token(p.ids[v.Job], v.Token), v.A%4 > 0 || len(p.tokens) == 0
	if fresh {
		token = uuid.NewString()
	}
	kinds := [][]string{{p.kinds[0]}, {p.kinds[1]}, p.kinds, p.kinds}[v.B%4]
	request := store.ClaimRequest{Worker: fmt.Sprintf("worker-%d", v.Job), Token: token, Kinds: kinds, Batch: 1 + v.A%3, RecordsIntent: v.B%3 > 0}
	got, err := p.db.Claim(context.Background(), request)
	if err != nil {
		return err
	}
	if !fresh && slices.Contains(p.tokens, token) {
		held := 0
		for _, j := range p.jobs {
			if j.Token == token {
				held++
			}
		}
		for _, j := range got {
			if p.jobs[j.JobID].Token != token {
				return fmt.Errorf("a repeated claim got %s, which it does not hold", j.JobID)
			}
		}
		return mismatch("jobs of a repeated claim", len(got), held)
	}
	can := p.claimable(kinds)
	if err := mismatch("jobs claimed", len(got), min(len(can), request.Batch)); err != nil {
		return err
	}
	for _, j := range got {
		if !can[j.JobID] {
			return fmt.Errorf("claimed %s, which is %s", j.JobID, p.jobs[j.JobID].State)
		}
		delete(can, j.JobID)
		p.claimed(j.JobID, token, request.Worker, request.RecordsIntent)
		if err := mismatch("attempt claimed", j.Attempt, p.jobs[j.JobID].Attempt); err != nil {
			return err
		}
	}
	if len(got) > 0 {
		p.tokens = append(p.tokens, token)
	}
	return nil
}

// next completes a job, or mostly tries to, and begins another.
func (p *play) next(v move, id, token string) error {
	kinds := [][]string{{p.kinds[0]}, {p.kinds[1]}, p.kinds}[v.B%3]
	request := store.ClaimRequest{Worker: fmt.Sprintf("worker-%d", v.Job), Token: uuid.NewString(), Kinds: kinds}
	last, completed := &store.Completion{JobID: id, Token: token, ReceiptID: p.receipt(id, v.A)}, ""
	if v.B%4 == 0 {
		last = nil
	}
	got, err := p.db.BeginNext(context.Background(), request, last)
	if err != nil {
		return err
	}
	if last != nil {
		completed = p.model.complete(id, token, last.ReceiptID)
	}
	if err := mismatch("begin_next completes", got.Completed, completed); err != nil {
		return err
	}
	can := p.claimable(kinds)
	if len(can) == 0 || completed == store.AnswerReceiptInvalid {
		return mismatch("begin_next", got.Answer+" "+got.Job.JobID, store.IntentNone+" ")
	}
	if !can[got.Job.JobID] {
		return fmt.Errorf("begin_next answered %s for %q, and can be claimed could %v", got.Answer, got.Job.JobID, can)
	}
	p.claimed(got.Job.JobID, request.Token, request.Worker, true)
	p.tokens = append(p.tokens, request.Token)
	answer, receipt := p.model.begin(got.Job.JobID, request.Token)
	return mismatch("begin_next begins", got.Answer+" "+got.ReceiptID, answer+" "+receipt)
}

// byHand changes a state as somebody at a psql prompt would.
func (p *play) byHand(id, to string) error {
	j := p.jobs[id]
	if to == j.State || to == "running" {
		return nil
	}
	want := ""
	switch {
	case to == "done" && j.State != "done":
		want = "JT002" // no receipt
	case !slices.Contains(byHand[j.State], to):
		want = "JT001"
	case to == "failed" && j.Attempt >= j.MaxAttempts:
		want = "23514"
	}
	_, err := p.pool.Exec(context.Background(), "UPDATE jobtop.jobs SET state = $2 WHERE id = $1", id, to)
	if err := mismatch("by hand from "+j.State+" to "+to, sqlState(err), want); err != nil || want != "" {
		return err
	}
	if j.State == "running" {
		j.endAttempt("fenced", to)
	}
	j.to(to)
	j.Direct++
	return nil
}
