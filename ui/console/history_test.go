package console

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// A screen is as it was left when its number is pressed, and exactly what a link, a
// command or the history says otherwise.
func TestPlacesAreExact(t *testing.T) {
	d := on(t, "jobs state:dead")
	d.press("3", "4")
	d.wants("/state:dead", "charge-10440")
	d.run(d.m.run("jobs"))
	d.lacks("/state:dead")
	d.wants("charge-10442", "11 open")
	d.press("[")
	d.wants("/state:dead")
	d.press("]")
	d.lacks("/state:dead")

	// The figure for all in review leads to all of them, whatever was filtered before.
	d.run(d.m.run("review kind:mail.send"))
	d.press("1", "enter")
	d.wants("5  ·  oldest first")
}

func TestABareWordIsAlsoAReceiptOrAnEffectKey(t *testing.T) {
	for word, c := range map[string]struct{ found, id string }{
		"ch_8121":      {"found by its receipt ID", "charge-9001"},
		"effect-of-it": {"found by its effect key", "invoice-90001"},
		"invoice-9000": {"invoice-90002", "invoice-90001"},
		"nothing":      {"No job matches nothing", ""},
	} {
		db := scene()
		db.jobs[8].EffectKey = "effect-of-it"
		d := start(t, db, 100, 30)
		d.press("4", "/")
		d.typing(word)
		d.press("enter")
		d.wants(c.found, c.id)
		d.refresh()
		d.wants(c.found, c.id)
	}
}

// Leaving while an act is under way takes asking twice.
func TestLeavingWhileAnActIsUnderWay(t *testing.T) {
	for _, key := range []string{"q", "ctrl+c"} {
		d := on(t, "overview")
		d.m.env.ledger.sending = 1
		d.press(key)
		d.wants("1 under way: wait for its answer")
		if d.quit {
			t.Fatalf("%s left at once", key)
		}
		d.press(key)
		if !d.quit {
			t.Errorf("%s twice does not leave", key)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"revew", "no command is called revew (did you mean review?)"},
		{"job", "it is :job ID"},
		{"pause", "it is :pause KIND"},
		{"review knid:x", "did you mean kind?"},
		{"actions by:alice", "/by:alice"},
		{"actions outcome:maybe", "the outcomes are applied, refused and void"},
		{"actions since:soon", "since:soon"},
		{"help", "Keys of review"},
	} {
		d := on(t, "review")
		d.press(":")
		d.typing(c.typed)
		d.press("enter")
		d.wants(c.want)
	}
	d := on(t, "review")
	d.press(":")
	d.typing("q")
	d.press("enter")
	if !d.quit {
		t.Error(":q does not quit")
	}
}

func TestCommandsAreCompletedAndRecalled(t *testing.T) {
	d := on(t, "review")
	d.press(":")
	d.typing("re")
	d.press("tab")
	d.wants(":review")
	d.press("tab")
	d.wants(":resume ")
	d.press("esc", ":")
	d.typing("resume m")
	d.press("tab")
	d.wants(":resume mail.send")
	d.press("esc", ":")
	d.typing("jobs sta")
	d.press("tab")
	d.typing("de")
	d.press("tab", "enter")
	d.wants("/state:dead")
	d.press(":", "up")
	d.wants(":jobs state:dead")
	d.press("down", "esc")
	d.lacks(":jobs")
}

func TestPauseAndResume(t *testing.T) {
	d := on(t, "review")
	d.press(":")
	d.typing("pause card.charge")
	d.press("enter")
	d.settle()
	d.typing("provider is down")
	d.press("tab")
	d.typing("soon")
	d.press("enter")
	d.wants("for")
	for range "soon" {
		d.press("backspace")
	}
	d.typing("30m")
	d.press("enter")
	d.settle()
	d.press("enter")
	if len(d.db.pauses) != 1 || d.db.pauses[0].Kind != "card.charge" || d.db.pauses[0].For != 30*time.Minute || d.db.pauses[0].Reason != "provider is down" {
		t.Fatalf("sent %+v", d.db.pauses)
	}
	d.wants("card.charge is paused for 30m00s. :resume card.charge ends it")
	d.press("1")
	d.wants("‖ card.charge")

	// From the overview, enter on a paused kind offers to resume it.
	for range 10 {
		if l, _ := d.m.screen().(*overview).current(); l.name == "need paused mail.send" {
			break
		}
		d.press("j")
	}
	d.press("enter")
	d.settle()
	d.wants("Resume mail.send", "Paused 20m ago by bob: provider is down")
	d.typing("provider is back")
	d.press("enter")
	d.settle()
	d.press("enter")
	if len(d.db.pauses) != 2 || d.db.pauses[1].Kind != "mail.send" {
		t.Errorf("sent %+v", d.db.pauses)
	}
	d.lacks("‖ mail.send")
}

// Every figure of the overview leads to its list.
func TestEveryFigureLeadsToItsList(t *testing.T) {
	d := start(t, scene(), 120, 40)
	o := d.m.screen().(*overview)
	links := o.links()
	if len(links) < 3+6+4*6+2 {
		t.Fatalf("only %d links", len(links))
	}
	for _, l := range links {
		d.run(d.m.run("overview"))
		o.selected = l.name
		d.m.View()
		d.press("enter")
		if l.open != nil {
			if d.m.env.dialogs.top() == nil {
				t.Errorf("%s opens nothing", l.name)
			}
			d.settle()
			d.press("esc")
			continue
		}
		if got := d.m.screen().place(); got != l.to {
			t.Errorf("%s leads to %s, want %s", l.name, got, l.to)
		}
	}
}

func TestContradictionsAreExplained(t *testing.T) {
	db := scene()
	db.contradictions = append(db.contradictions, contradiction())
	d := start(t, db, 120, 40)
	d.wants("doctor")
	for range 10 {
		if l, _ := d.m.screen().(*overview).current(); l.name == "need doctor" {
			break
		}
		d.press("j")
	}
	d.press("enter")
	d.wants("Rows that contradict themselves", "charge-9001", "it is done, and no receipt says so", "To mend it")
}

// The keys and the sizes of a terminal come in any order.
func TestResizeAtAnyMoment(t *testing.T) {
	d := on(t, "review")
	d.press("E")
	d.send(tea.WindowSizeMsg{Width: 60, Height: 15})
	d.settle()
	d.typing("ticket")
	d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	d.wants("▏ticket", "Requeue charge-10442")
}
