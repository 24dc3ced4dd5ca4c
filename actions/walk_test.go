package actions

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// Jobs that are pushed about at random in the real database go where edges lead and
// nowhere else, come to every state, and never leave done.
func TestSeedsRandomWalksInTheDatabase(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	visited := map[State]bool{}
	taken := map[string]bool{}
	checkUntil(t, func() bool { return len(visited) == len(States()) }, func(t *rapid.T) {
		l := base.in(t)
		alice := l.runner("alice")
		id, kind := l.enqueue()
		at, version := Pending, int64(1)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			visited[at] = true
			to := rapid.SampledFrom(States()).Draw(t, "to")
			by := rapid.SampledFrom([]Actor{Worker, Operator}).Draw(t, "by")
			if to == at {
				continue
			}
			e := Edge{From: at, To: to, Actor: by}
			switch {
			case !HasEdge(at, to, Worker) && !HasEdge(at, to, Operator):
				_, err := l.pool.Exec(context.Background(), "UPDATE jobtop.jobs SET state = $2, lock_token = $3::text::uuid WHERE id = $1", id, string(to), uuid.NewString())
				if sqlState(err) != "JT001" {
					t.Fatalf("%s by hand: %v", e, err)
				}
			case !HasEdge(at, to, by):
				if by == Operator && to != Running && to != Failed {
					l.must(alice, l.order(verbTo(to), id), Refused)
				}
			default:
				if at == Running && by == Operator {
					l.silence(id)
				}
				if by == Worker {
					if to == Failed {
						// A failure needs an attempt left; a requeue leaves but one.
						l.exec("UPDATE jobtop.jobs SET max_attempts = attempt + 1 WHERE id = $1 AND max_attempts <= attempt", id)
					}
					l.takeAsWorker(e, id, kind)
				} else {
					l.must(alice, l.order(verbTo(to), id), Applied)
				}
				at, version = to, version+1
				taken[e.String()] = true
			}
			if job := l.see(id); State(job.State) != at || job.Version != version {
				t.Fatalf("it is %s, version %d; the walk is at %s, version %d", job.State, job.Version, at, version)
			}
		}
		visited[at] = true
	})
	for _, s := range States() {
		if !visited[s] {
			t.Errorf("no walk came to %s", s)
		}
	}
	t.Logf("%d of %d edges taken", len(taken), len(Edges()))
}

// checkUntil checks a property until what was drawn is enough to prove something: how
// many draws a check has is for the flags to say, and a few may miss what is rare.
func checkUntil(t *testing.T, enough func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
		if enough() {
			return
		}
	}
}
