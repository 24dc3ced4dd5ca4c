package actions

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"jobtop/store"
)

// The database's edges are Go's, and each can be taken with the real functions.
func TestSeedsEnumWithGuardedEdges(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	rows, err := l.pool.Query(context.Background(), "SELECT from_state, to_state, actor, note FROM jobtop.edges")
	if err != nil {
		t.Fatal(err)
	}
	var database []store.Edge
	notes := map[string]string{}
	for rows.Next() {
		var e store.Edge
		var note string
		if err := rows.Scan(&e.From, &e.To, &e.Actor, &note); err != nil {
			t.Fatal(err)
		}
		database = append(database, e)
		notes[e.From+e.To+e.Actor] = note
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	server, err := l.db.Server(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := CompareEdges(server.Edges); err != nil {
		t.Error(err)
	}
	if err := CompareEdges(database); err != nil {
		t.Error(err)
	}
	for _, e := range Edges() {
		if got := notes[string(e.From)+string(e.To)+string(e.Actor)]; got != e.Note {
			t.Errorf("%s: the database notes %q, we %q", e, got, e.Note)
		}
	}

	alice := l.runner("alice")
	for _, e := range Edges() {
		t.Run(e.String(), func(t *testing.T) {
			l := l.in(t)
			id, kind := l.bring(e.From, e.Actor == Operator)
			before := l.see(id)
			if e.Actor == Worker {
				l.takeAsWorker(e, id, kind)
			} else {
				l.must(alice, l.order(verbTo(e.To), id), Applied)
			}
			after := l.see(id)
			if after.State != string(e.To) || after.Version != before.Version+1 {
				t.Errorf("%s, version %d became %s, version %d", before.State, before.Version, after.State, after.Version)
			}
			claimed := 0
			if e.To == Running {
				claimed = 1
			}
			if after.Attempt != before.Attempt+claimed {
				t.Errorf("attempt %d became %d", before.Attempt, after.Attempt)
			}
			receipts := l.get("SELECT count(*)::text FROM jobtop.receipts WHERE job_id = $1", id)
			if want := map[bool]string{true: "1", false: "0"}[e.To == Done]; receipts != want {
				t.Errorf("%s receipts, want %s", receipts, want)
			}
		})
	}
}

// takeAsWorker takes an edge with the functions that workers call.
func (l *ledger) takeAsWorker(e Edge, id, kind string) {
	l.t.Helper()
	if e.To == Running {
		l.claim(id, kind, true)
		return
	}
	token := *l.see(id).LockToken
	switch e.To {
	case Done:
		l.begin(id, token)
		l.complete(id, token)
	case Failed:
		l.fail(id, token, "refused", true)
	case Dead:
		l.fail(id, token, "not_begun", false)
	case Review:
		l.begin(id, token)
		l.fail(id, token, "unknown", true)
	default:
		l.t.Fatalf("no worker takes %s", e)
	}
}

func verbTo(to State) Verb {
	for _, v := range Verbs() {
		if v.Target() == to {
			return v
		}
	}
	return ""
}

// What is no edge, the database itself refuses, even to a superuser.
func TestSeedsGuardRefusesWhatIsNoEdge(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	tried := 0
	for _, from := range States() {
		for _, to := range States() {
			if from == to || HasEdge(from, to, Worker) || HasEdge(from, to, Operator) {
				continue
			}
			tried++
			t.Run(string(from+" to "+to), func(t *testing.T) {
				l := l.in(t)
				id, _ := l.bring(from, true)
				before := l.row(id)
				// With a token, so that it is not a CHECK that refuses running.
				_, err := l.pool.Exec(context.Background(), "UPDATE jobtop.jobs SET state = $2, lock_token = $3::text::uuid WHERE id = $1", id, string(to), uuid.NewString())
				if sqlState(err) != "JT001" {
					t.Errorf("got %v, want JT001", err)
				}
				if after := l.row(id); after != before {
					t.Errorf("it changed all the same:\n%s\n%s", before, after)
				}
			})
		}
	}
	// Six states have 30 pairs; two edges of the 22 are both actors' (running to done, review and dead).
	if tried != 30-(len(Edges())-3) {
		t.Errorf("tried %d pairs", tried)
	}
}

// row is everything about a job, as text.
func (l *ledger) row(id string) string {
	l.t.Helper()
	return l.get("SELECT j::text FROM jobtop.jobs j WHERE j.id = $1", id)
}
