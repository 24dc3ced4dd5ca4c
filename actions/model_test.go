package actions

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

var modelSteps = flag.Int("model.steps", 800, "at least so many steps of the model test")

// play is one script as it runs: the model beside the database. A play tells what is
// wrong by an error, so that mutants can be held against it.
type play struct {
	*ledger
	*model
	name          string
	ids, kinds    []string
	tokens        []string
	seen          map[string][]modelSeen // states of the jobs so far
	runner        *Runner
	fake          *fake
	first, second *session
	open          []openAct // acts that are unknown
	stray         []openAct // known, but some of them may still arrive
	done          []Order   // known
	states        map[string]bool
}

type modelSeen struct {
	state   string
	version int64
}

// stage is what plays on one database share.
type stage struct {
	*ledger
	first, second *session
	plays, steps  atomic.Int64
	states        map[string]bool // that jobs came to
}

func newStage(l *ledger) *stage {
	return &stage{ledger: l, first: l.session(), second: l.session(), states: map[string]bool{}}
}

// Workers, operators, lost answers, late arrivals, settles and restarts, at random, some
// of them while another waits for a lock: after each step the database holds what an
// independent model says, and every report is true. The long form is -model.steps=100000.
func TestModel(t *testing.T) {
	t.Parallel()
	s := newStage(newLedger(t))
	enough := func() bool {
		steps := s.steps.Load()
		return steps >= int64(*modelSteps) && (len(s.states) == len(States()) || steps >= 20*int64(*modelSteps))
	}
	for !enough() && !t.Failed() {
		rapid.Check(t, func(t *rapid.T) {
			if enough() {
				return
			}
			if err := s.play(scripts.Draw(t, "script")); err != nil {
				t.Fatal(err)
			}
		})
	}
	if len(s.states) != len(States()) {
		t.Errorf("the jobs came to %v only", slices.Sorted(maps.Keys(s.states)))
	}
	t.Logf("%d plays, %d steps", s.plays.Load(), s.steps.Load())
}

// play runs a script, and returns the first thing that is wrong.
func (s *stage) play(script script) error {
	name := fmt.Sprintf("p%d", s.plays.Add(1))
	p := &play{
		ledger: s.ledger, name: name, kinds: []string{name + ".one", name + ".two"}, seen: map[string][]modelSeen{}, states: s.states,
		model: &model{jobs: map[string]*modelJob{}, paused: map[string]bool{}, acts: map[string]modelAction{}},
		fake:  &fake{Database: s.db}, first: s.first, second: s.second,
	}
	for i, most := range script.Max {
		j := &modelJob{ID: fmt.Sprintf("%s-%d", name, i), Kind: p.kinds[i/2], State: "pending", Version: 1, MaxAttempts: most}
		p.ids, p.jobs[j.ID] = append(p.ids, j.ID), j
		p.exec("SELECT jobtop.enqueue($1, $2, max_attempts => $3)", j.ID, j.Kind, most)
	}
	p.console()
	defer func() { _ = p.runner.Journal.Close() }()
	defer func() { p.first.exec("ROLLBACK") }()
	before, err := p.compare(nil)
	if err != nil {
		return err
	}
	for i, v := range script.Moves {
		s.steps.Add(1)
		var err error
		switch {
		case strings.Contains(v.Do, " waits for "):
			err = p.waiting(v)
		case slices.Contains([]string{"claim", "heartbeat", "begin", "complete", "next", "fail", "silence", "by hand", "pause"}, v.Do):
			err = p.worker(v)
		default:
			err = p.operator(v)
		}
		if err == nil {
			before, err = p.compare(before)
		}
		if err != nil {
			return fmt.Errorf("step %d, %+v: %w", i, v, err)
		}
	}
	return nil
}

// console starts the operator's console anew.
func (p *play) console() {
	p.runner = p.ledger.runner("alice")
	p.runner.DB, p.runner.Journal = p.fake, NewJournal(filepath.Join(p.dir, p.name))
}

const modelSQL = `
	SELECT coalesce(json_agg(json_build_object(
	  'ID', j.id, 'Kind', j.kind, 'State', j.state, 'Version', j.version, 'Attempt', j.attempt, 'MaxAttempts', j.max_attempts,
	  'Token', coalesce(j.lock_token::text, ''), 'Began', j.effect_at IS NOT NULL,
	  'Receipt', (SELECT json_build_object('ID', r.receipt_id, 'By', r.recorded_by, 'Action', coalesce(r.action_id::text, ''), 'Attempt', r.attempt) FROM jobtop.receipts r WHERE r.job_id = j.id),
	  'Attempts', (SELECT json_agg(json_build_object('Token', a.lock_token, 'Worker', a.worker, 'Intents', a.records_intent OR (a.finished_at IS NULL AND j.effect_at IS NOT NULL),
	                 'Began', CASE WHEN a.finished_at IS NULL THEN j.effect_at ELSE a.effect_at END IS NOT NULL,
	                 'Outcome', coalesce(a.outcome, ''), 'To', coalesce(a.to_state, '')) ORDER BY a.attempt) FROM jobtop.attempts a WHERE a.job_id = j.id),
	  'Late', (SELECT json_agg(json_build_object('Token', l.lock_token, 'Receipt', coalesce(l.receipt_id, ''), 'Effect', coalesce(l.effect, '')) ORDER BY l.id) FROM jobtop.late_reports l WHERE l.job_id = j.id),
	  'Actions', (SELECT json_agg(json_build_object('ID', c.action_id, 'Verb', c.verb, 'Outcome', c.outcome, 'Refusal', coalesce(c.refusal, ''), 'Version', coalesce(c.version, 0)) ORDER BY c.at, c.action_id)
	                FROM jobtop.actions c WHERE c.job_id = j.id AND c.verb <> 'direct'),
	  'Direct', (SELECT count(*) FROM jobtop.actions c WHERE c.job_id = j.id AND c.verb = 'direct')) ORDER BY j.id), '[]')::text
	  FROM jobtop.jobs j WHERE j.id = ANY ($1)`

// compare reads the jobs, and holds them against the model, against what they were
// before, and against what must always be.
func (p *play) compare(before map[string]*modelJob) (map[string]*modelJob, error) {
	var text string
	if err := p.pool.QueryRow(context.Background(), modelSQL, p.ids).Scan(&text); err != nil {
		return nil, err
	}
	var list []*modelJob
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	now := map[string]*modelJob{}
	for _, j := range list {
		now[j.ID] = j
		p.states[j.State] = true
		if seen := p.seen[j.ID]; len(seen) == 0 || seen[len(seen)-1].version != j.Version {
			p.seen[j.ID] = append(seen, modelSeen{j.State, j.Version})
		}
		if err := invariant(before[j.ID], j); err != nil {
			return now, err
		}
		want := *p.jobs[j.ID]
		want.silent = false
		want.Attempts = slices.Clone(want.Attempts)
		for i := range want.Attempts {
			want.Attempts[i].taken = ""
		}
		// The order in which they were written is not that of their clocks.
		byID := func(a, b modelAction) int { return strings.Compare(a.ID, b.ID) }
		want.Actions = slices.SortedFunc(slices.Values(want.Actions), byID)
		slices.SortFunc(j.Actions, byID)
		if !reflect.DeepEqual(*j, want) {
			got, _ := json.Marshal(j)
			should, _ := json.Marshal(want)
			return now, fmt.Errorf("the database holds\n%s\nand the model\n%s", got, should)
		}
	}
	return now, mismatch("jobs", len(now), len(p.ids))
}

// invariant is what must be true of a job whatever the model says.
func invariant(was, is *modelJob) error {
	claims, ends, applied := len(is.Attempts), 0, is.Direct
	for _, a := range is.Attempts {
		if a.Outcome != "" && a.Outcome != "fenced" {
			ends++
		}
	}
	for _, a := range is.Actions {
		if a.Outcome == "applied" {
			applied++
		}
	}
	open := slices.ContainsFunc(is.Attempts, func(a modelAttempt) bool { return a.Outcome == "" })
	switch {
	case was != nil && (is.Version < was.Version || is.Attempt < was.Attempt):
		return fmt.Errorf("%s fell from version %d, attempt %d, to %d, %d", is.ID, was.Version, was.Attempt, is.Version, is.Attempt)
	case was != nil && is.Version == was.Version+1 && !HasEdge(State(was.State), State(is.State), Worker) && !HasEdge(State(was.State), State(is.State), Operator):
		return fmt.Errorf("%s went from %s to %s", is.ID, was.State, is.State)
	case was != nil && is.Version == was.Version && is.State != was.State:
		return fmt.Errorf("%s went from %s to %s in one version", is.ID, was.State, is.State)
	case was != nil && was.State == "done" && is.State != "done":
		return fmt.Errorf("%s left done", is.ID)
	case (is.State == "done") != (is.Receipt != nil):
		return fmt.Errorf("%s is %s, with the receipt %v", is.ID, is.State, is.Receipt)
	case (is.State == "running") != open:
		return fmt.Errorf("%s is %s, with an open attempt: %t", is.ID, is.State, open)
	case is.Version != int64(1+claims+ends+applied):
		return fmt.Errorf("%s is at version %d after %d claims, %d ends of attempts and %d applied actions", is.ID, is.Version, claims, ends, applied)
	}
	return nil
}
