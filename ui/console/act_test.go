package console

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
)

// act uses a verb on the selected job: the reason, and whatever else is asked.
func act(d *driver, key string, answers ...string) {
	d.press(key)
	d.settle()
	for _, a := range answers {
		d.typing(a)
		d.press("enter")
	}
	d.settle()
	d.press("enter")
}

// suspends looks for tea's wish to suspend among what a command brings.
func suspends(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.SuspendMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			if suspends(c) {
				return true
			}
		}
	}
	return false
}

func TestAnActIsBoundToWhatTheDialogShows(t *testing.T) {
	d := on(t, "review")
	act(d, "E", "ticket 5512", "charge-10442")
	if len(d.db.acts) != 1 {
		t.Fatalf("%d acts were sent; the screen is\n%s", len(d.db.acts), d.text())
	}
	got := d.db.acts[0]
	if got.Verb != "requeue" || got.JobID != "charge-10442" || got.SeenState != "review" || got.SeenVersion != 3 || got.Operator != "alice" ||
		got.Reason != "ticket 5512" || strings.Join(got.Confirmations, " ") != "may_have_happened" {
		t.Errorf("sent %+v", got)
	}
	d.wants("charge-10442    applied: was requeued; it is pending", "H (hold) takes it back out of the queue")
}

func TestADialogSwallowsKeysInFlight(t *testing.T) {
	d := on(t, "review id:invoice-88140")
	d.press("E")
	for range 3 { // enter repeats, 50 ms apart
		d.clock = d.clock.Add(50 * time.Millisecond)
		d.press("enter")
	}
	d.wants("[ Cancel ]")
	d.clock = d.clock.Add(quietFor)
	d.typing("x")
	d.wants("▏x")

	d = on(t, "review id:invoice-88140")
	d.press("E")
	for range 16 { // whoever types on is not shut out for ever
		d.clock = d.clock.Add(100 * time.Millisecond)
		d.typing("x")
	}
	d.wants("▏xx")
}

func TestCancelHasTheFocus(t *testing.T) {
	for _, key := range []string{"E", "D", "X"} {
		d := on(t, "review id:invoice-88140")
		d.press(key)
		d.settle()
		d.press("enter")
		if d.m.env.dialogs.top() != nil || len(d.db.acts) > 0 {
			t.Errorf("%s and enter: %d acts, dialog open %v", key, len(d.db.acts), d.m.env.dialogs.top() != nil)
		}
	}
}

// An enter that repeats while a reason is typed does not press the button.
func TestEnterThatRepeatsDoesNotSend(t *testing.T) {
	d := on(t, "review id:invoice-88140")
	d.press("E")
	d.settle()
	d.typing("ticket")
	for range 5 {
		d.press("enter")
		d.clock = d.clock.Add(40 * time.Millisecond)
	}
	if len(d.db.acts) != 0 {
		t.Fatal("a repeated enter sent the act")
	}
	d.wants("[ Requeue ]")
}

func TestAnUncertainRequeueTakesTheTypedID(t *testing.T) {
	for _, typed := range []string{"", "charge-1044", "CHARGE-10442", "charge-10467"} {
		d := on(t, "review")
		act(d, "E", "ticket", typed)
		if len(d.db.acts) != 0 {
			t.Errorf("sent after %q was typed", typed)
		}
		d.wants("That is not the job's id, to the letter")
	}
}

// An id that cannot be typed is typed as the screen writes it, all of it; the profile's
// name too.
func TestAnIDThatCannotBeTypedIsTypedAsShown(t *testing.T) {
	for _, c := range []struct {
		id, typed string
		ascii     bool
		sent      int
	}{
		{"charge\n1\x1b[2J\u202e", `charge\n1\x1b[2J\u202e`, false, 1},
		{"charge\n1", `charge 1`, false, 0},
		{"charge\n1", `charge`, false, 0},
		{"charge\t" + strings.Repeat("1", 60) + "2", `charge\t` + strings.Repeat("1", 60) + "2", false, 1},
		{"charge\t" + strings.Repeat("1", 60) + "2", `charge\t` + strings.Repeat("1", 31), false, 0},
		{"größe-1", `gr\u00f6\u00dfe-1`, true, 1},
		{`a\n1`, "a\n1", false, 0}, // whose backslash is one
		{`a\n1`, `a\n1`, false, 1},
	} {
		db := scene()
		db.jobs[0].ID = c.id
		d := start(t, db, 100, 30, func(o *Options) {
			o.ASCII = c.ascii
			o.Profile, o.Config.Profiles = "live\x1b", map[string]config.Profile{"live\x1b": {Production: true}}
		})
		d.run(d.m.run("review"))
		act(d, "E", "ticket", c.typed, `live\x1b`)
		if len(d.db.acts) != c.sent {
			t.Errorf("%q typed as %q: %d acts were sent, want %d; the screen is\n%s", c.id, c.typed, len(d.db.acts), c.sent, d.text())
		}
		if c.sent == 1 && len(d.db.acts) == 1 && (d.db.acts[0].JobID != c.id || d.db.acts[0].SeenVersion != 3) {
			t.Errorf("sent %+v", d.db.acts[0])
		}
	}
}

// What a field wants is said until something is typed into it, most of all where the
// cursor is.
func TestAnEmptyFieldSaysWhatItWants(t *testing.T) {
	d := on(t, "review")
	d.press("E")
	d.settle()
	d.press("tab", "tab")
	d.wants("reason       ▏  why; kept with the action", "type the id  ▏charge-10442")
	d.press("tab")
	d.wants("reason       ▏why; kept with the action", "type the id  ▏  charge-10442")
	d.typing("c")
	d.wants("type the id  ▏c")
	d.lacks("▏  charge-10442", "▏c charge")
	d.press("backspace")
	d.wants("type the id  ▏  charge-10442")
}

func TestWhatIsTypedIsChecked(t *testing.T) {
	for _, c := range []struct{ key, reason, receipt, want string }{
		{"E", " ", "", "The reason is empty"},
		{"E", strings.Repeat("r", 1001), "", "The reason has 1001 characters; at most 1000 are kept"},
		{"D", "ticket", strings.Repeat("r", 201), "The receipt ID has 201 characters; at most 200 are kept"},
		{"D", "ticket", "ch_\u200b1", "The receipt ID holds an invisible character (U+200B)"},
	} {
		d := on(t, "review id:invoice-88140")
		d.press(c.key)
		d.settle()
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(c.reason), Paste: true})
		d.press("enter")
		if c.receipt != "" {
			d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(c.receipt), Paste: true})
			d.press("enter")
		}
		d.wants(c.want)
		d.settle()
		d.press("enter", "enter")
		if len(d.db.acts) != 0 {
			t.Errorf("%+v was sent", c)
		}
	}
}

// Pasted control characters neither reach the screen nor the record.
func TestPastedControlCharacters(t *testing.T) {
	d := on(t, "review id:invoice-88140")
	d.press("E")
	d.settle()
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("one\ntwo\x1b[2J\u202e"), Paste: true})
	d.press("enter")
	d.settle()
	if shown := d.m.View(); strings.Contains(shown, "\u202e") || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("the screen shows it raw: %q", shown)
	}
	d.press("enter")
	for _, a := range d.db.acts {
		if strings.ContainsAny(a.Reason, "\n\x1b") {
			t.Errorf("the record got %q", a.Reason)
		}
	}
}

// What somebody else did meanwhile is told before anything is sent, and the order binds
// to what the job is now.
func TestSomebodyElseChangedTheJob(t *testing.T) {
	d := on(t, "review")
	d.db.jobs[0].Version, d.db.jobs[0].State = 4, "dead"
	detail := d.db.details["charge-10442"]
	detail.ChangedBy, detail.ChangedHow = ptr("bob"), ptr("dead")
	d.db.details["charge-10442"] = detail
	d.db.jobs[0].StateAge = 70 * time.Second
	d.press("E")
	d.settle()
	d.m.env.width = 140
	d.wants("Since you saw it bob changed it (dead) 1m ago: review, version 3 is now dead, version 4.")
	d.typing("ticket")
	d.press("enter")
	d.typing("charge-10442")
	d.press("enter")
	d.settle()

	// And again, while the dialog is open: the focus goes back to Cancel.
	d.db.jobs[0].Version, d.db.jobs[0].State = 5, "review"
	d.refresh()
	d.wants("dead, version 4 is now review, version 5", "[ Cancel ]")
	d.settle()
	d.press("tab")
	d.press("enter")
	if len(d.db.acts) != 1 || d.db.acts[0].SeenVersion != 5 {
		t.Errorf("sent %+v", d.db.acts)
	}
}

func TestAJobThatCameBackToLifeIsNotActedOn(t *testing.T) {
	d := on(t, "stuck id:charge-11549")
	d.press("E")
	d.settle()
	d.wants("type the id")
	d.db.jobs[5].StuckFor, d.db.jobs[5].HeartbeatAge = nil, ptr(time.Second)
	d.refresh()
	d.wants("Requeue cannot be used: its worker is alive")
	d.press("enter", "enter")
	if len(d.db.acts) != 0 {
		t.Error("it was sent all the same")
	}
}

func TestARefusalStandsOnItsRow(t *testing.T) {
	d := on(t, "review id:invoice-88140")
	d.press("E")
	d.settle()
	d.typing("ticket")
	d.press("enter")
	d.settle()
	d.db.jobs[3].Version = 7 // after the dialog's last reading
	d.press("enter")
	d.wants("refused: changed meanwhile: bob", "nothing was changed by this act")
}

// The answer is lost, and so is that of the search for it: the row says unknown, and the
// console goes on looking.
func TestALostAnswerIsLookedFor(t *testing.T) {
	db := scene()
	d := start(t, db, 100, 30, func(o *Options) { o.Runner.SettleFor = time.Millisecond })
	d.run(d.m.run("review id:invoice-88140"))
	db.actError = unknown()
	act(d, "E", "ticket")
	d.wants("unknown: ")
	db.actError = nil
	db.settled = &store.ActAnswer{Outcome: "applied", ToState: ptr("pending"), ToVersion: ptr(int64(7)), State: ptr("pending"), Version: ptr(int64(7))}
	d.refresh()
	d.wants("applied: was requeued")
}

// While it is looked for, neither the row nor the line below says that it is being sent.
func TestALostAnswerIsNoSending(t *testing.T) {
	d := on(t, "review id:invoice-88140")
	job := d.db.jobs[3]
	sent := d.m.env.ledger.add(actions.Order{Verb: actions.VerbDead, JobID: job.ID, SeenState: actions.State(job.State), SeenVersion: job.Version}, d.m.env.now())
	d.refresh()
	d.wants("dead: sending")
	d.run(d.m.searching(sent))
	d.lacks("sending")
	d.wants("dead invoice-88140: the answer was lost, so it may have happened; finding out", "unknown: the answer was lost; finding out")
	d.run(d.m.acted(sent, actions.Result{Order: sent.order, Outcome: actions.Unknown, Err: unknown()}))
	d.wants("unknown: invoice-88140 may have been marked dead")
	d.lacks("unknown: unknown", "finding out")
	d.run(d.m.searching(sent)) // told too late
	d.lacks("finding out")
}

func TestReadOnly(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fake, *Options)
		want   string
	}{
		"flag":    {func(_ *fake, o *Options) { o.ReadOnly = "started with --readonly" }, "started with --readonly"},
		"role":    {func(f *fake, _ *Options) { f.server.CanAct = false }, "the role oncall may not act"},
		"replica": {func(f *fake, _ *Options) { f.server.Replica = true }, "this server is a replica"},
		"edges":   {func(f *fake, _ *Options) { f.server.Edges = f.server.Edges[1:] }, "edge"},
		"writes":  {func(f *fake, _ *Options) { f.server.WritesOff = true }, "default_transaction_read_only is on"},
		"schema":  {func(f *fake, _ *Options) { f.server.Schema.Have = 0 }, "jobtop schema apply"},
	} {
		t.Run(name, func(t *testing.T) {
			db := scene()
			d := start(t, db, 140, 30, func(o *Options) { c.change(db, o) })
			d.run(d.m.run("review"))
			if !strings.Contains(d.view()[0], "RO") {
				t.Errorf("the header does not say RO: %s", d.view()[0])
			}
			d.lacks("E requeue")
			for _, key := range []string{"E", "D", "X"} {
				d.press(key)
				d.wants("read-only: ", c.want)
			}
			if d.m.env.dialogs.top() != nil {
				t.Error("a dialog came up")
			}
		})
	}
}

func TestProductionAsksForItsName(t *testing.T) {
	d := on(t, "review id:invoice-88140", func(o *Options) {
		o.Profile = "orders-live"
		o.Config.Profiles = map[string]config.Profile{"orders-live": {Production: true}}
	})
	act(d, "E", "ticket", "orders-test")
	if len(d.db.acts) != 0 {
		t.Fatal("sent under another profile's name")
	}
	for range "orders-test" {
		d.press("backspace")
	}
	d.typing("orders-live")
	d.press("enter")
	d.settle()
	d.press("enter")
	if len(d.db.acts) != 1 {
		t.Errorf("%d acts after the right name:\n%s", len(d.db.acts), d.text())
	}
}

// Where acts cannot be journaled, the screen says so, and acts go on.
func TestNoJournal(t *testing.T) {
	for name, journal := range map[string]*actions.Journal{"none": nil, "unwritable": actions.NewJournal("/dev/null/state")} {
		d := on(t, "review id:invoice-88140", func(o *Options) { o.Runner.Journal = journal })
		if !strings.Contains(d.view()[0], "no journal") {
			t.Errorf("%s: the header is %s", name, d.view()[0])
		}
		act(d, "E", "ticket")
		if len(d.db.acts) != 1 {
			t.Errorf("%s: %d acts", name, len(d.db.acts))
		}
		d.wants("invoice-88140 was requeued", "no journal: were jobtop killed now")
	}
}

// esc and a key that came at once are two keys, not one with alt.
func TestEscAndAKeyAtOnce(t *testing.T) {
	d := on(t, "review kind:card.charge")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'j'}, Alt: true})
	d.lacks("/kind:card.charge")
	d.wants("mail-30752")
}

func TestConfiguredKeysAndColumns(t *testing.T) {
	d := on(t, "review", func(o *Options) {
		o.Config.Keys = map[string][]string{"down": {"ctrl-n"}, "requeue": {"F5"}}
		o.Config.Columns = map[string][]string{"review": {"since", "id", "effect"}}
	})
	d.send(tea.KeyMsg{Type: tea.KeyCtrlN})
	d.wants(">     2h  charge-10467", "effect key", "f5 requeue")
	d.lacks("verdict")
	for want, c := range map[string]config.Config{
		"(did you mean verdict?)":    {Columns: map[string][]string{"review": {"id", "verdit"}}},
		"no list is called that":     {Columns: map[string][]string{"overview": {"id"}}},
		"what writes is on an upper": {Keys: map[string][]string{"dead": {"x"}}},
		"no theme is called":         {Theme: "solarized"},
	} {
		_, err := newModel(t.Context(), Options{DB: scene(), Config: c})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func lookUp(t *testing.T) {
	t.Helper()
	d := on(t, "review", func(o *Options) {
		o.Config.Lookup = map[string]config.Lookup{"*": {Command: []string{"sh", "-c", `printf '{"receipt_id":"ch_%s"}' "$JOBTOP_EFFECT_KEY"`}}}
	})
	d.press("L")
	d.wants("the provider has receipt ch_charge-10442", "D offers it")
	act(d, "D", "the provider has it", "")
	if len(d.db.acts) != 1 || d.db.acts[0].ReceiptID != "ch_charge-10442" || !strings.Contains(string(d.db.acts[0].Lookup), "ch_charge-10442") {
		t.Errorf("sent %+v", d.db.acts)
	}
}

func TestLookupThatFailsOrFindsNothing(t *testing.T) {
	for script, want := range map[string]string{
		`echo '{"receipt_id":null}'`:        "the provider knows of nothing under charge-10442; no proof while a worker may still call; the intent is 2h old",
		`printf 'all \033[2J quiet\n'`:      `sh says: all \x1b[2J quiet`,
		`echo no route to host >&2; exit 7`: "no route to host",
	} {
		d := on(t, "review", func(o *Options) {
			o.Config.Lookup = map[string]config.Lookup{"card.charge": {Command: []string{"sh", "-c", script}}}
		})
		d.m.env.width = 200
		d.press("L")
		d.wants(want)
	}
}

func unknown() error {
	// store's own error cannot be made outside of it; errors.As finds this one.
	return errors.Join(&store.UnknownError{})
}
