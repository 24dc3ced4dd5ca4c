package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"jobtop/store"
)

// die lets go of the journal as a killed process does.
func (j *Journal) die() {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.file.Close()
	j.file = nil
}

// files reads all journals of a state directory.
func files(t rapid.TB, state string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(state, "journal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}

// The intent is on disk when the act is sent, and holds nothing that is not needed.
func TestJournalIsWrittenBeforeTheAct(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state", "jobtop")
	o := Order{Verb: VerbDone, JobID: "charge-1", SeenState: Review, SeenVersion: 3, Reason: "ticket 5512", ReceiptID: "ch_secret"}
	sent := false
	f := &fake{name: "db-1:5432/orders/7", line: 3}
	f.onAct = func(call) (store.ActAnswer, error) {
		sent = true
		for name, text := range files(t, state) {
			var l line
			if err := json.Unmarshal([]byte(text), &l); err != nil || l.Intent == nil {
				t.Fatalf("%s holds %q: %v", name, text, err)
			}
			i := *l.Intent
			if i.ActionID != f.acts[0].ActionID || i.Verb != VerbDone || i.JobID != "charge-1" || i.Operator != "alice" ||
				i.Database != "db-1:5432/orders/7" || i.Timeline != 3 || i.At.IsZero() {
				t.Errorf("%+v", i)
			}
			if strings.Contains(text, "ch_secret") || strings.Contains(text, "ticket") {
				t.Errorf("it tells too much: %s", text)
			}
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			for dir := filepath.Dir(name); dir != filepath.Dir(filepath.Dir(state)); dir = filepath.Dir(dir) {
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v, %v", dir, info.Mode(), err)
				}
			}
			return store.ActAnswer{Outcome: "applied"}, nil
		}
		t.Error("there is no journal")
		return store.ActAnswer{}, nil
	}
	r := &Runner{DB: f, Operator: "alice", Journal: NewJournal(state)}
	if result := r.Run(t.Context(), o); result.JournalErr != nil || !sent {
		t.Errorf("%+v", result)
	}
	if err := r.Journal.Close(); err != nil || len(files(t, state)) != 0 {
		t.Errorf("after closing: %v, %v", err, files(t, state))
	}
}

// A console that is killed around an act finds out at its next start: whether the act
// had been sent or not, in the name of whoever made it, and once.
func TestJournalSettlesWhatAKilledConsoleLeft(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for name, test := range map[string]struct {
		fate func(call) (store.ActAnswer, error)
		want Outcome
	}{
		"before it was sent":           {cutBefore, NotHappened},
		"after the commit":             {cutAfter, Applied},
		"after it had been refused":    {cutAfter, Refused},
		"and the next start fails too": {cutAfter, Applied},
	} {
		t.Run(name, func(t *testing.T) {
			l := l.in(t)
			state := t.TempDir()
			id, _ := l.bring(Review, false)
			o := l.order(VerbRequeue, id)
			if test.want == Refused {
				o.SeenVersion++
			}
			alice := &Runner{Operator: "alice", Client: "test", Journal: NewJournal(state), SettleFor: 1}
			alice.DB = &fake{Database: l.db, onAsk: cutBefore, onAct: func(next call) (store.ActAnswer, error) {
				_, err := test.fate(next)
				alice.Journal.die() // from here on she writes nothing more
				return store.ActAnswer{}, err
			}}
			alice.Run(context.Background(), o)

			next := &Runner{DB: l.db, Operator: "bob", Client: "test", Journal: NewJournal(state)}
			if strings.HasPrefix(name, "and") {
				away := &Runner{DB: &fake{Database: l.db, onAsk: cutAfter}, Operator: "bob", Journal: NewJournal(state), SettleFor: 1}
				results, err := away.Recover(context.Background())
				if err != nil || len(results) != 1 || results[0].Outcome != Unknown || len(files(t, state)) != 1 {
					t.Fatalf("with nobody to answer: %+v, %v", results, err)
				}
			}
			results, err := next.Recover(context.Background())
			if err != nil || len(results) != 1 {
				t.Fatalf("%+v, %v", results, err)
			}
			got := results[0]
			if got.Outcome != test.want || got.Operator != "alice" || got.Order.JobID != id || got.Order.Verb != VerbRequeue || !got.Settled {
				t.Errorf("%+v", got)
			}
			want := map[bool]State{true: Pending, false: Review}[test.want == Applied]
			if l.state(id) != want {
				t.Errorf("told %q, but it is %s", Explain(got), l.state(id))
			}
			if by := l.get("SELECT operator FROM jobtop.actions WHERE action_id = $1::text::uuid", got.Order.ActionID); by != "alice" {
				t.Errorf("recorded in the name of %s", by)
			}
			if left := files(t, state); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if again, err := next.Recover(context.Background()); err != nil || len(again) != 0 {
				t.Errorf("a second time: %+v, %v", again, err)
			}
		})
	}
}

// A process that is alive keeps its journal to itself; so do other databases.
func TestJournalLeavesOthersAlone(t *testing.T) {
	state := t.TempDir()
	alice := &Runner{DB: &fake{name: "orders", onAct: cutBefore, onAsk: cutBefore}, Operator: "alice", Journal: NewJournal(state), SettleFor: 1}
	if result := alice.Run(t.Context(), anOrder); result.Outcome != Unknown {
		t.Fatal(Explain(result))
	}
	bob := func(database string) *Runner {
		return &Runner{DB: &fake{name: database, onAsk: says("applied")}, Operator: "bob", Journal: NewJournal(state)}
	}
	if results, err := bob("orders").Recover(t.Context()); err != nil || len(results) != 0 {
		t.Errorf("while she lives: %+v, %v", results, err)
	}
	if pending, err := bob("orders").Journal.Pending(); err != nil || len(pending) != 1 {
		t.Errorf("but it can be read: %v, %v", pending, err)
	}
	if err := alice.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	if results, err := bob("invoices").Recover(t.Context()); err != nil || len(results) != 0 || len(files(t, state)) != 1 {
		t.Errorf("of another database: %+v, %v", results, err)
	}
	if results, err := bob("orders").Recover(t.Context()); err != nil || len(results) != 1 || results[0].Outcome != Applied {
		t.Errorf("%+v, %v", results, err)
	}
	if left := files(t, state); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Where the journal cannot be written the act goes on, and says so.
func TestJournalThatCannotBeWritten(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, journal := range map[string]*Journal{"a file in its way": NewJournal(blocked), "a device": NewJournal("/dev/null"), "none": nil} {
		r := &Runner{DB: &fake{name: "orders", onAct: says("applied")}, Operator: "alice", Journal: journal}
		result := r.Run(t.Context(), anOrder)
		if result.Outcome != Applied || result.JournalErr == nil || !strings.HasPrefix(result.JournalErr.Error(), "no journal: ") {
			t.Errorf("%s: %s, %v", name, result.Outcome, result.JournalErr)
		}
		if err := journal.Ready(); err == nil {
			t.Errorf("%s: ready", name)
		}
		if err := journal.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if os.Geteuid() == 0 {
		return // root may write what nobody may
	}
	state := t.TempDir()
	if err := os.Chmod(state, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := NewJournal(state).Ready(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("a directory without the right to write: %v", err)
	}
}

// A disk that fills up tears a line, and only that one.
func TestJournalOnAFullDisk(t *testing.T) {
	state := t.TempDir()
	j := NewJournal(state)
	if err := j.Ready(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.file.WriteString(`{"intent":{"action_id":"`); err != nil {
		t.Fatal(err)
	}
	j.torn = true
	r := &Runner{DB: &fake{name: "orders", onAct: cutBefore, onAsk: cutBefore}, Operator: "alice", Journal: j, SettleFor: 1}
	result := r.Run(t.Context(), anOrder)
	if pending, err := j.Pending(); err != nil || len(pending) != 1 || pending[0].ActionID != result.Order.ActionID {
		t.Errorf("%v, %v", pending, err)
	}
}

// However a journal was torn or scribbled over: what stands there whole is found, each
// act once, and nothing else is.
func TestJournalSurvivesGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text bytes.Buffer
		var want []string
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			id := uuid.NewString()
			switch rapid.SampledFrom([]string{"open", "concluded", "garbage", "blank", "foreign"}).Draw(t, "line") {
			case "open":
				writeLine(t, &text, line{Intent: &Intent{ActionID: id, Verb: VerbHold, JobID: rapid.String().Draw(t, "job"), Database: "orders"}})
				want = append(want, id)
			case "concluded":
				writeLine(t, &text, line{Intent: &Intent{ActionID: id, Verb: VerbHold}})
				writeLine(t, &text, line{Outcome: &outcome{id, Applied}})
			case "garbage":
				text.WriteString(strings.ReplaceAll(rapid.StringOf(rapid.Rune()).Draw(t, "garbage"), "\n", "") + "\n")
			case "blank":
				text.WriteString("\n")
			case "foreign":
				writeLine(t, &text, line{Intent: &Intent{ActionID: "no uuid", Verb: VerbHold}})
				writeLine(t, &text, line{Intent: &Intent{ActionID: id, Verb: "explode"}})
			}
		}
		whole := text.Len()
		writeLine(t, &text, line{Intent: &Intent{ActionID: uuid.NewString(), Verb: VerbDead}})
		torn := text.Bytes()[:rapid.IntRange(whole, text.Len()-2).Draw(t, "torn at")]
		var got []string
		for _, i := range unsettled(torn) {
			got = append(got, i.ActionID)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v, in\n%s", got, want, torn)
		}
	})
}

func writeLine(t rapid.TB, to *bytes.Buffer, l line) {
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	to.Write(append(text, '\n'))
}

// A file whose last line is torn can be written on.
func TestJournalRecoversATornFile(t *testing.T) {
	state := t.TempDir()
	j := NewJournal(state)
	ids := []string{uuid.NewString(), uuid.NewString()}
	for i, database := range []string{"orders", "invoices"} {
		if err := j.intend(Intent{ActionID: ids[i], Verb: VerbHold, JobID: "charge-1", Operator: "alice", Database: database}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.file.WriteString(`{"intent":{"act`); err != nil {
		t.Fatal(err)
	}
	j.die()
	for i, database := range []string{"orders", "invoices"} {
		r := &Runner{DB: &fake{name: database, onAsk: says("applied")}, Operator: "bob", Journal: NewJournal(state)}
		results, err := r.Recover(t.Context())
		if err != nil || len(results) != 1 || results[0].Order.ActionID != ids[i] {
			t.Fatalf("%s: %+v, %v", database, results, err)
		}
	}
	if left := files(t, state); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Two consoles that start at once share out what was left; neither settles twice.
func TestJournalIsRecoveredOnce(t *testing.T) {
	state := t.TempDir()
	for range 20 {
		j := NewJournal(state)
		if err := j.intend(Intent{ActionID: uuid.NewString(), Verb: VerbHold, JobID: "charge-1", Operator: "alice", Database: "orders"}); err != nil {
			t.Fatal(err)
		}
		j.die()
	}
	found := make(chan Result, 100)
	done := make(chan error)
	for range 4 {
		go func() {
			r := &Runner{DB: &fake{name: "orders", onAsk: says("applied")}, Operator: "bob", Journal: NewJournal(state)}
			results, err := r.Recover(context.Background())
			for _, result := range results {
				found <- result
			}
			done <- errors.Join(err, r.Journal.Ready(), r.Journal.Close())
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(found)
	ids := map[string]bool{}
	for result := range found {
		if ids[result.Order.ActionID] {
			t.Errorf("%s was settled twice", result.Order.ActionID)
		}
		ids[result.Order.ActionID] = true
	}
	if left := files(t, state); len(ids) != 20 || len(left) != 0 {
		t.Errorf("%d settled, left behind: %v", len(ids), left)
	}
}

// The lock is what tells the living from the dead.
func TestJournalIsLocked(t *testing.T) {
	j := NewJournal(t.TempDir())
	if err := j.Ready(); err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(j.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("somebody else may lock it: %v", err)
	}
}
