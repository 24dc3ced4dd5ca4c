package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jobtop/store"
)

func TestRowsVanishAboveTheSelection(t *testing.T) {
	d := on(t, "review")
	d.press("j", "j", "j")
	d.db.jobs = slices.Delete(d.db.jobs, 0, 2)
	d.refresh()
	if got := selectedID(d); got != "invoice-88140" {
		t.Errorf("the selection went to %s", got)
	}
	// The selected one vanishes too: it stays, marked as gone, and no verb hits another.
	d.db.jobs[1].State, d.db.jobs[1].Version = "done", 7
	d.refresh()
	d.wants(">- invoice-88140")
	d.press("E")
	d.settle()
	d.wants("Since you saw it", "is now done, version 7", "Requeue cannot be used: it is done, and nothing leaves done")
}

func TestBulkPartsTheSafeFromTheUncertain(t *testing.T) {
	d := on(t, "review")
	d.press("*", "E")
	d.settle()
	d.wants("Requeue 5 marked jobs", "1 safe   4 uncertain   0 left out", "Requeue 1")
	d.typing("the machine died")
	d.press("enter") // past the number of uncertain ones and the spread
	d.settle()
	d.press("enter")
	if len(d.db.acts) != 1 || d.db.acts[0].JobID != "invoice-88140" {
		t.Fatalf("without their number, %d acts went out: %+v", len(d.db.acts), d.db.acts)
	}
	d.wants("what became of it", "1 applied")
}

func TestBulkWithTheirNumber(t *testing.T) {
	d := on(t, "review")
	d.press("*", "E")
	d.settle()
	d.typing("the machine died")
	d.wants("Requeue 1")
	d.press("tab")
	d.typing("4")
	d.wants("Requeue 5")
	d.press("tab")
	d.typing("10m")
	d.press("enter")
	d.settle()
	d.db.jobs[1].Version = 9 // after the preview
	d.press("enter")
	if len(d.db.acts) != 5 {
		t.Fatalf("%d acts:\n%s", len(d.db.acts), d.text())
	}
	for i, a := range d.db.acts {
		uncertain := a.JobID != "invoice-88140"
		if (len(a.Confirmations) == 1) != uncertain || a.Reason != "the machine died" || a.Delay != time.Duration(i)*2*time.Minute {
			t.Errorf("act %d: %+v", i, a)
		}
	}
	d.wants("1 refused", "4 applied", "changed meanwhile: bob")

	// The list is narrowed, copied, and the refused one repeated on what it is now.
	d.settle()
	d.press("f")
	d.wants("showing refused")
	d.lacks("invoice-88140 was requeued")
	d.press("y")
	if d.sent.Len() == 0 {
		t.Error("nothing was copied")
	}
	d.press("r")
	d.settle()
	d.wants("Requeue charge-10467", "version 9")
}

// Of marked jobs that changed since they were seen, the preview shows what they are now.
func TestBulkReadsAfresh(t *testing.T) {
	d := on(t, "review")
	d.press("*")
	d.db.jobs[0].State, d.db.jobs[0].Version = "done", 4
	d.db.jobs = slices.Delete(d.db.jobs, 1, 2)
	d.press("E")
	d.settle()
	d.wants("1 changed since you saw them", "2 left out", "it is done, and nothing leaves done", "it does not exist any more")
}

// While the preview is open the jobs go on: it says so with the next look, nothing that was
// typed is lost, the cursor stays, and no order is bound to what was not shown at first.
func TestBulkPreviewIsReadAfresh(t *testing.T) {
	d := on(t, "review")
	d.press("*", "E")
	d.settle()
	d.wants("1 safe   4 uncertain   0 left out")
	d.typing("ticket 5512")
	form := d.m.env.dialogs.top().(*bulkDialog).form
	d.press("tab")
	d.typing("3")
	d.refresh()
	d.wants("1 safe   4 uncertain   0 left out")
	d.lacks("changed since")

	d.db.jobs[0].State, d.db.jobs[0].Version = "done", 4      // charge-10442: somebody else was faster
	d.db.jobs[2].Evidence.Verdict = store.VerdictNeverStarted // invoice-88121: its late report counts for nothing
	d.db.jobs = slices.Delete(d.db.jobs, 4, 5)                // mail-30752: gone
	d.refresh()
	d.wants("2 safe   1 uncertain   2 left out", "2 changed since this was opened", "it changed since this was opened: done, version 4 now", "it does not exist any more", "ticket 5512")
	if form.focus != 1 || form.inputs[1].field.value() != "3" || form.inputs[0].field.value() != "ticket 5512" {
		t.Errorf("the focus is on %d, and %q and %q are typed", form.focus, form.inputs[0].field.value(), form.inputs[1].field.value())
	}
	d.press("enter")
	d.wants("There is 1 uncertain one")

	d.db.down = errors.New("it is away")
	d.refresh()
	d.wants("2 safe   1 uncertain   2 left out") // it can still be read
	d.db.down = nil
	d.pass(mostBackoff)

	d.press("backspace", "1", "enter")
	d.settle()
	d.press("tab", "tab", "tab")
	if form.focus = form.act(); !strings.Contains(d.text(), "Requeue 3") {
		d.wants("Requeue 3")
	}
	d.db.jobs[3].Version = 9 // invoice-88140, after the last look: the database refuses it
	d.press("enter")
	acted := map[string]int64{}
	for _, r := range d.db.acts {
		acted[r.JobID] = r.SeenVersion
	}
	if len(acted) != 3 || acted["charge-10467"] != 5 || acted["invoice-88121"] != 3 || acted["invoice-88140"] != 6 {
		t.Errorf("acted on %v", acted)
	}
	d.wants("2 applied", "1 refused")
}

// A field that comes or goes with what was read leaves the cursor where it is.
func TestFormKeepsItsFocus(t *testing.T) {
	a, b, c := &input{label: "a"}, &input{label: "b"}, &input{label: "c"}
	f := newForm("go", a, c)
	f.focus = 1
	if f.keep(a, b, c); f.inputs[f.focus] != c {
		t.Errorf("the focus went from c to %d", f.focus)
	}
	if f.focus = f.act(); f.focus != 4 {
		t.Fatal(f.focus)
	}
	if f.keep(a, c); f.focus != f.act() {
		t.Errorf("the focus went from the button to %d", f.focus)
	}
	f.focus = 1
	if f.keep(a); f.focus != f.cancel() {
		t.Errorf("the focus went to %d where its field went", f.focus)
	}
}

func TestBulkStopsBetweenTwoJobs(t *testing.T) {
	d := start(t, many(20), 100, 30)
	d.run(d.m.run("review bulk-* verdict:never_started"))
	d.press("*", "E")
	d.settle()
	d.typing("ticket")
	d.press("enter", "enter")
	bulk := d.m.env.dialogs.top().(*bulkDialog)
	cmd := bulk.run()
	bulk.key(keyMsg("esc")) // before the first
	d.run(cmd)
	if len(d.db.acts) != 0 {
		t.Errorf("%d acts went out after the stop", len(d.db.acts))
	}
	d.wants("5 not sent")
}

func TestDoneInBulkTakesKnownReceiptsOnly(t *testing.T) {
	d := on(t, "review")
	d.press("*", "D")
	d.settle()
	d.wants("1 ready   0 uncertain   4 left out", "no receipt ID is known", "receipt in_9901")
}

// What may have happened, or did, is not given up among the safe ones.
func TestDeadInBulkSetsTheUncertainApart(t *testing.T) {
	d := on(t, "review")
	d.press("*", "X")
	d.settle()
	d.wants("Mark dead 5 marked jobs", "1 safe   4 uncertain   0 left out", "Mark dead 1")
	d.typing("nobody needs them")
	d.press("enter")
	d.settle()
	d.press("enter", "enter")
	if len(d.db.acts) != 1 {
		t.Errorf("%d acts went out", len(d.db.acts))
	}
	d.wants("Mark dead (1 of 5; the others stay marked): what became of it")
	d.press("esc")
	d.wants("4 marked")
}

func TestFourHundredStuckJobs(t *testing.T) {
	db := scene()
	for i := range 400 {
		j := store.Job{
			ID: fmt.Sprintf("stuck-%03d", i), Kind: "mail.send", State: "running", Version: 2, Attempt: 1, MaxAttempts: 5, Worker: ptr("w-9"), LockToken: ptr("t"),
			StuckFor: ptr(time.Minute), HeartbeatAge: ptr(2 * time.Minute), HeartbeatTimeout: time.Minute, Evidence: store.Evidence{Verdict: store.VerdictNeverStarted, Attempt: ptr(1)},
		}
		if i%4 == 0 {
			j.Evidence.Verdict = store.VerdictMayHaveHappened
		}
		db.jobs = append(db.jobs, j)
	}
	d := start(t, db, 80, 24)
	keys := 0
	press := func(names ...string) {
		keys += len(names)
		d.press(names...)
	}
	press("2", "/")
	d.typing("worker:w-9")
	press("enter", "*")
	d.wants("400 marked")
	press("E")
	d.settle()
	d.wants("300 safe   100 uncertain")
	d.typing("w-9 died")
	press("enter")
	d.settle()
	press("enter")
	if len(d.db.acts) != 300 {
		t.Fatalf("%d acts after the safe ones:\n%s", len(d.db.acts), d.text())
	}
	for _, a := range d.db.acts {
		if len(a.Confirmations) > 0 {
			t.Fatalf("an uncertain one was among the safe: %+v", a)
		}
	}
	d.wants("300 applied")
	if keys > 20 {
		t.Errorf("it took %d keys", keys)
	}
}

func TestGroupingTellsWhatJobsShare(t *testing.T) {
	d := start(t, many(300), 100, 30)
	d.run(d.m.run("review bulk-*"))
	d.press("b", "b") // by worker
	d.wants("by worker", "w-0", "34", "11 %")
	d.lacks("more exist")
	d.press("b", "b", "b") // version: none recorded, then verdict
	d.wants("by verdict", "75")
}

// A part of a list is not sorted as if it were the whole.
func TestSortingAPartIsRefused(t *testing.T) {
	d := start(t, many(500), 100, 30)
	d.run(d.m.run("review bulk-*"))
	d.wants("200 read, more exist")
	d.press("s")
	d.wants("by id")
	d.press("s")
	d.wants("by since", "only by id and by time")
	d.press("S")
	if q := d.db.queries[len(d.db.queries)-1]; q.Order != store.NewestFirst {
		t.Errorf("asked for the order %q", q.Order)
	}
}

func TestFilterMistakesShowWhileTyping(t *testing.T) {
	d := on(t, "jobs")
	d.press("/")
	d.typing("knid:x")
	d.wants("did you mean kind?")
	d.press("enter")
	d.wants("charge-10442") // the list stays as it was
	d.press("/")
	d.typing("ki")
	d.press("tab")
	d.wants("/kind:")
}

// However jobs come and go between two readings, paging by the cursor shows none twice
// and leaves out none that stayed.
func TestPagingLeavesNothingOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db := &fake{}
		n := rapid.IntRange(0, 30).Draw(t, "jobs")
		for i := range n {
			db.jobs = append(db.jobs, store.Job{ID: fmt.Sprintf("j%02d", i), State: "review", Evidence: store.Evidence{}})
		}
		var p pages
		stayed := map[string]bool{}
		for _, j := range db.jobs {
			stayed[j.ID] = true
		}
		q := store.JobQuery{Limit: rapid.IntRange(1, 7).Draw(t, "page"), Order: store.ByID}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			first := 0
			if len(p.read) > 0 {
				first = rapid.IntRange(0, len(p.read)).Draw(t, "first")
			}
			start := ""
			switch {
			case first < len(p.read):
				start = p.read[first].start
			case first > 0:
				if p.next() == "" {
					continue
				}
				start = p.next()
			}
			read, err := readPages(ctx(), db, q, start, rapid.IntRange(1, 3).Draw(t, "n"))
			if err != nil {
				t.Fatal(err)
			}
			p.put(first, read)
			if len(db.jobs) > 1 && rapid.Bool().Draw(t, "one goes") {
				i := rapid.IntRange(0, len(db.jobs)-1).Draw(t, "which")
				if !isCursor(p, db.jobs[i].ID) { // the fake's cursors are ids
					delete(stayed, db.jobs[i].ID)
					db.jobs = slices.Delete(db.jobs, i, i+1)
				}
			}
		}
		// Read everything once more, page by page, and look.
		for i := 0; ; i++ {
			start := ""
			if i > 0 {
				start = p.read[i-1].Next
			}
			read, _ := readPages(ctx(), db, q, start, 1)
			p.put(i, read)
			if p.read[i].Next == "" {
				break
			}
		}
		seen := map[string]bool{}
		for _, j := range p.jobs() {
			if seen[j.ID] {
				t.Fatalf("%s twice", j.ID)
			}
			seen[j.ID] = true
		}
		for id := range stayed {
			if !seen[id] {
				t.Fatalf("%s was left out", id)
			}
		}
	})
}

func isCursor(p pages, id string) bool {
	return slices.ContainsFunc(p.read, func(q page) bool { return q.start == id || q.Next == id })
}

func TestHostileTextInEveryColumn(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\u202e\u200b\x9b31m\xff\r\n\ttab"
	db := scene()
	for i := range db.jobs {
		j := &db.jobs[i]
		j.Kind, j.Worker, j.ErrorCategory, j.ErrorDetail, j.SourceVersion, j.EffectKey = evil, &evil, &evil, &evil, &evil, evil
		j.Evidence.ReceiptID, j.Evidence.RecordedBy = &evil, &evil
	}
	db.jobs[0].ID = evil
	for i := range db.overview.Kinds {
		db.overview.Kinds[i].Kind += evil
	}
	db.overview.Receipts[0].ReceiptID, db.poll.Paused[0].Kind, db.poll.Paused[0].Reason = evil, evil, evil
	db.server.Database, db.server.Host, db.server.Role = evil, evil, evil
	db.contradictions = []store.Contradiction{{JobID: evil, Kind: evil, Problem: store.StateUnexplained, Explained: evil}}
	db.actions[0].Reason, db.actions[0].Operator = &evil, evil
	detail := db.details["charge-10442"]
	detail.Attempts[0].Worker, detail.Attempts[0].ErrorDetail, detail.Actions[0].Operator, detail.ChangedBy = evil, &evil, evil, &evil
	db.details[evil] = detail
	for name, keys := range shows {
		d := start(t, db, 140, 40)
		d.m.findings[evil] = &finding{line: d.m.env.safe(evil)}
		d.press(keys...)
		d.settle()
		// What is left after the looks that we draw ourselves is all printable.
		for _, line := range strings.Split(d.m.View(), "\n") {
			rest := line
			for _, code := range []string{"\x1b[m", "\x1b[1m", "\x1b[2m", "\x1b[1;36m", "\x1b[36m", "\x1b[33m", "\x1b[1;31m", "\x1b[34m", "\x1b[7m", "\x1b[1;35m", "\x1b[4m", "\x1b[1;7m"} {
				rest = strings.ReplaceAll(rest, code, "")
			}
			if clean := d.m.env.safe(rest); clean != rest {
				t.Errorf("%s shows %q", name, line)
			}
		}
	}
}

func TestASCII(t *testing.T) {
	for name, keys := range shows {
		d := start(t, many(5), 100, 30, func(o *Options) { o.ASCII, o.NoColor = true, true })
		d.press(keys...)
		for _, r := range d.text() {
			if r > 0x7e {
				t.Errorf("%s shows %q with --ascii", name, r)
				break
			}
		}
		if view := d.m.View(); strings.Contains(view, "\x1b[3") || strings.Contains(view, "\x1b[1;3") {
			t.Errorf("%s has colours with --no-color", name)
		}
	}
}
