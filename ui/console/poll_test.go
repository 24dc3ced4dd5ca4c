package console

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
)

func TestKeysThatCameAtOnce(t *testing.T) {
	d := on(t, "review")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjj")})
	if got := selectedID(d); got != "invoice-88140" {
		t.Errorf("jjj at once selects %s", got)
	}
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/kind:mail.send")})
	d.press("enter")
	d.wants("mail-30752")
	d.lacks("charge-10442")
}

// Text pasted over a list is not taken for keys.
func TestPastedKeysDoNothing(t *testing.T) {
	d := on(t, "review")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jjEq"), Paste: true})
	if got := selectedID(d); got != "charge-10442" || d.m.env.dialogs.top() != nil || d.quit {
		t.Errorf("selected %s, dialog %v, quit %v", got, d.m.env.dialogs.top(), d.quit)
	}
	d.wants("pasted text goes nowhere here")
}

// However long a look takes, there is one at a time, and the next begins a pause after
// its end.
func TestOneLookAtATime(t *testing.T) {
	d := on(t, "review")
	polls := 0
	d.db.before = func(what string) {
		if what == "poll" {
			polls++
		}
	}
	if first := d.m.look(); first == nil {
		t.Fatal("no look begins")
	}
	for range 3 {
		if again := d.m.look(); again != nil {
			t.Fatal("a second look begins while one is in flight")
		}
	}
	d.press("R")
	if polls != 0 {
		t.Errorf("R began %d looks beside the one in flight", polls)
	}
}

// A late answer to an older question changes nothing.
func TestLateAnswersAreDropped(t *testing.T) {
	d := on(t, "review")
	l := d.m.screen().(*list)
	slow := l.refresh() // asked, and not answered yet
	if err := l.filter("kind:mail.send"); err != nil {
		t.Fatal(err)
	}
	d.run(l.refresh())
	d.wants("mail-30752")
	d.run(slow)
	d.wants("mail-30752")
	d.lacks("charge-10442")

	// So too when the screen was left for another job.
	d.run(d.m.run("job charge-10442"))
	first := d.m.screen().(*jobScreen)
	late := first.refresh()
	d.run(d.m.run("job charge-9001"))
	d.run(late)
	d.wants("HAPPENED", "ch_8121")
}

func TestADatabaseThatGoesAway(t *testing.T) {
	d := on(t, "review")
	d.db.down = errors.New("the server ended the connection; it may be restarting")
	d.refresh()
	d.wants("the server ended the connection", "since 12:04:02", "next try 12:04:0", "STALE", "charge-10442")
	d.pass(20 * time.Second)
	d.wants("STALE  20s old", "since 12:04:02", "what you see is from 12:04:00")
	d.press("j") // nothing hangs
	if got := selectedID(d); got != "charge-10467" {
		t.Errorf("selected %s", got)
	}
	d.db.down = nil
	d.pass(mostBackoff)
	d.wants("the database answers again", "old")
	d.lacks("STALE", "since 12:04:02")
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 2 * time.Second, 3: mostBackoff, 100: mostBackoff, 1 << 40: mostBackoff} {
		if got := backoff(failures, 0); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
		if got := backoff(failures, 1); got < want*3/4-1 || got > want {
			t.Errorf("after %d failures, with jitter: %v of %v", failures, got, want)
		}
	}
}

// A look that takes long is told of while it takes long.
func TestASlowLookShowsTheAgeOfTheData(t *testing.T) {
	d := on(t, "review")
	d.m.env.requests.open["poll"] = -1 // in flight, for ever
	d.run(d.m.env.alarm("late", time.Second, d.m.late))
	d.pass(31 * time.Second)
	d.wants("STALE  30s old", "charge-10442")
}

// Nothing is sent to a steady screen between two looks, and ages alone change no line.
func TestASteadyScreenStaysTheSame(t *testing.T) {
	for _, line := range []string{"overview", "stuck", "review", "jobs", "actions", "job charge-10442"} {
		d := on(t, line)
		before := d.m.View()
		for range 4 {
			d.clock = d.clock.Add(400 * time.Millisecond)
			if d.m.View() != before {
				t.Fatalf("%s ticks by itself", line)
			}
		}
		d.db.poll.RoundTrip += 300 * time.Microsecond
		for i := range d.db.jobs {
			d.db.jobs[i].StateAge += 2 * time.Second
		}
		d.refresh()
		a, b := strings.Split(before, "\n"), strings.Split(d.m.View(), "\n")
		changed := 0
		for i := range b {
			if a[i] != b[i] {
				changed++
			}
		}
		if changed > 1 {
			t.Errorf("%s: two seconds changed %d lines", line, changed)
		}
	}
}

// Reading keeps to its share of the server's time by making longer pauses, and says so.
func TestADearLookMakesLongerPauses(t *testing.T) {
	d := on(t, "review")
	polls := 0
	d.db.before = func(what string) {
		if what == "poll" {
			polls++
		}
	}
	for range 2 {
		d.db.spent += 118 * time.Millisecond
		d.refresh()
	}
	if got, want := d.m.env.poller.wait, 12*time.Second; got != want {
		t.Errorf("120 ms of the server's time are followed by a pause of %v, want %v", got, want)
	}
	d.wants("every 12s  <5ms  <13s old", "every 12s: a look costs 120ms and the budget is 1 % of one core")
	polls = 0
	d.pass(11 * time.Second)
	if polls != 0 {
		t.Errorf("%d looks in 11 s", polls)
	}

	// Cheap again, it comes as often as before.
	d.pass(time.Minute)
	d.lacks("every 12s")
	d.wants("<5ms  <3s old")
}

// The share belongs to all consoles on the database.
func TestConsolesShareTheBudget(t *testing.T) {
	d := on(t, "review")
	d.db.poll.Consoles = 4
	for range 2 {
		d.db.spent += 28 * time.Millisecond
		d.refresh()
	}
	d.wants("every 12s: a look costs 30ms and the budget is 1 % of one core for 4 consoles")
}

// A look by hand counts too: without room for it the screen says so, and looks all the
// same when it is asked again.
func TestALookByHandCounts(t *testing.T) {
	d := on(t, "review")
	polls := 0
	d.db.before = func(what string) {
		if what == "poll" {
			polls++
			d.db.mutex.Lock()
			d.db.spent += 150 * time.Millisecond
			d.db.mutex.Unlock()
		}
	}
	for range 3 {
		d.press("R")
		d.clock = d.clock.Add(time.Second)
	}
	if polls != 3 {
		t.Fatalf("%d looks by hand, want 3", polls)
	}
	d.press("R")
	if polls != 3 {
		t.Error("the share is used up, and R looks at once")
	}
	d.wants("the budget is 1 % of one core; the next look comes in 57s, or at once when you press R again")
	d.press("R")
	if polls != 4 {
		t.Error("R again does not look")
	}
}

func TestFailover(t *testing.T) {
	d := on(t, "review")
	d.db.down = errors.New("the server ended the connection")
	d.refresh()
	d.db.down, d.db.server.Host, d.db.server.Replica = nil, "db-2", true
	d.pass(5 * time.Second)
	d.wants("now on db-2, before on db-1", "replica", "RO")
	d.db.server.Replica = false
	d.pass(time.Minute)
	d.wants("db-2 is the primary now", "RW")
}

func TestHeartbeatsStoppedEverywhere(t *testing.T) {
	d := on(t, "stuck")
	d.lacks("heartbeats stopped")
	d.db.poll.NewestHeartbeat = ptr(4 * time.Minute)
	d.refresh()
	d.wants("heartbeats stopped everywhere 4m ago: suspect the database or the network, not the jobs")
}

func TestSomethingNewRingsAndMarks(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		d := start(t, scene(), 100, 30, func(o *Options) { o.Config.Bell, o.Config.Mark = ptr(!quiet), ptr(!quiet) })
		d.refresh()
		if d.sent.Len() > 0 {
			t.Fatalf("rang for nothing: %q", d.sent.String())
		}
		j := d.db.jobs[0]
		j.ID = "charge-77"
		d.db.jobs = append(d.db.jobs, j)
		d.refresh()
		d.wants("3 review 6")
		if marked := strings.Contains(d.text(), "3 review 6!"); marked == quiet {
			t.Errorf("marked %v, quiet %v", marked, quiet)
		}
		if got, want := d.sent.String(), "\a"; (got == want) == quiet {
			t.Errorf("sent %q, quiet %v", got, quiet)
		}
		d.press("3")
		d.lacks("!")
	}
}

func TestTheSchemaIsMissing(t *testing.T) {
	db := scene()
	db.down = &store.SchemaError{Status: store.SchemaStatus{Want: 39}}
	d := start(t, db, 80, 24)
	d.wants("this database has no jobtop schema; jobtop schema apply makes it")
}

// A look that the budget puts off is late by design: the screen says how often it looks, and
// not that something is wrong. What this console did itself it looks at all the same.
func TestALookThatIsPutOffIsNotStale(t *testing.T) {
	d := on(t, "review")
	d.refresh()
	p := &d.m.env.poller
	p.budget.charge(d.clock, p.budget.before+3*time.Second) // by reading much else
	for range 20 {
		d.pass(time.Second)
		d.lacks("STALE")
	}
	d.wants("every ")

	d.db.poll.Stuck.N = 373
	d.press("*", "X")
	d.settle()
	d.typing("nobody needs them")
	d.press("enter")
	d.settle()
	d.lacks("stuck 37")
	d.press("enter", "enter")
	d.wants("stuck 37")
}

// However seldom the budget lets the console look, an open dialog knows its job.
func TestADialogStaysFresh(t *testing.T) {
	d := on(t, "stuck")
	d.refresh()
	p := &d.m.env.poller
	p.budget.charge(d.clock, p.budget.before+3*time.Second)
	for range 2 {
		d.pass(30 * time.Second)
	}
	shown, _ := d.m.screen().(*list).table.Selected()
	d.press("E")
	d.settle()
	looks := p.looks
	for i := range d.db.jobs {
		if d.db.jobs[i].ID == shown.ID {
			d.db.jobs[i].Evidence.Verdict = store.VerdictNeverStarted
		}
	}
	d.lacks("NEVER STARTED:")
	d.pass(4 * time.Second)
	d.wants("NEVER STARTED:")
	if p.looks != looks {
		t.Errorf("%d looks", p.looks-looks)
	}
}
