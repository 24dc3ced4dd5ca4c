package actions

import (
	"strings"
	"testing"
	"time"

	"jobtop/store"
)

func TestVerbsAreWhole(t *testing.T) {
	for _, v := range Verbs() {
		if !v.Known() || rulesOf(v) == nil {
			t.Fatalf("%s has no rules", v)
		}
		if v.Title() == "" || past(v) == "" || how(string(v)) == "changed it" || UndoHint(v) == "" {
			t.Errorf("%s lacks words", v)
		}
		if v.Target() == Running || v.Target() == Failed || !v.Target().Known() {
			t.Errorf("%s leads to %s, where only workers go", v, v.Target())
		}
		// The verb that is said to lead back does.
		back := map[Verb]Verb{VerbRequeue: VerbHold, VerbHold: VerbRequeue, VerbDead: VerbRequeue}[v]
		if back == "" {
			if UndoHint(v) != "nothing leads back from done" {
				t.Errorf("%s: %q", v, UndoHint(v))
			}
		} else if !strings.HasPrefix(UndoHint(v), back.Name()+" ") || !HasEdge(v.Target(), back.Target(), Operator) {
			t.Errorf("%s: %q", v, UndoHint(v))
		}
	}
	if len(verbs) != 4 {
		t.Errorf("%d verbs", len(verbs))
	}
	if unknown := Verb("explode"); unknown.Known() || unknown.Target() != "" || Unavailable(unknown, store.Job{State: "review"}) == "" {
		t.Error("an unknown verb is known")
	}
}

func TestDialogWords(t *testing.T) {
	age, stuck := 2*time.Hour, time.Hour
	job := func(state State, verdict string) store.Job {
		return store.Job{ID: "charge-1", Kind: "card.charge", State: string(state), Version: 3, Attempt: 5, MaxAttempts: 5, EffectKey: "key-1",
			Worker: ptr("w-7"), HeartbeatAge: ptr(3 * time.Second), HeartbeatTimeout: time.Minute, Evidence: store.Evidence{Verdict: verdict, EffectAge: &age}}
	}
	stuckJob := job(Running, "may_have_happened")
	stuckJob.StuckFor = &stuck
	late := job(Review, "happened")
	late.Evidence.ReceiptID = ptr("ch_9")
	fresh := job(Dead, "never_started")
	fresh.Attempt = 1

	for _, test := range []struct {
		verb                       Verb
		job                        store.Job
		unavailable, asks          string
		preview, warning, confirms string
	}{
		{VerbRequeue, job(Review, "may_have_happened"), "", "id",
			"card.charge charge-1 goes from review to pending and will be claimed again; attempts allowed rise to 6",
			"if it did happen, it happens twice, unless the provider honours the key key-1", "may_have_happened"},
		{VerbRequeue, fresh, "", "",
			"card.charge charge-1 goes from dead to pending and will be claimed again", "", ""},
		{VerbRequeue, stuckJob, "", "id",
			"card.charge charge-1 goes from running to pending and will be claimed again; attempts allowed rise to 6; w-7 loses its lease, and what it still reports is kept as evidence",
			"if it did happen, it happens twice, unless the provider honours the key key-1", "may_have_happened"},
		{VerbRequeue, job(Review, "not_known"), "", "id",
			"card.charge charge-1 goes from review to pending and will be claimed again; attempts allowed rise to 6",
			"if it did happen, it happens twice, unless the provider honours the key key-1", "may_have_happened"},
		{VerbRequeue, late, "", "id",
			"card.charge charge-1 goes from review to pending and will be claimed again; attempts allowed rise to 6",
			"if it did happen, it happens twice, unless the provider honours the key key-1", "may_have_happened"},
		{VerbDone, late, "", "receipt ch_9",
			"card.charge charge-1 goes from review to done for good, with its receipt", "nothing leads back from done", ""},
		{VerbDone, job(Failed, "did_not_happen"), "", "receipt ",
			"card.charge charge-1 goes from failed to done for good, with its receipt", "nothing leads back from done", ""},
		{VerbDead, job(Review, "may_have_happened"), "", "",
			"card.charge charge-1 goes from review to dead; no worker will claim it again unless somebody requeues it",
			"it may have happened all the same; dead does not undo it", ""},
		{VerbDead, late, "", "",
			"card.charge charge-1 goes from review to dead; no worker will claim it again unless somebody requeues it",
			"it did happen: \"done\" records that, with the receipt", ""},
		{VerbHold, job(Pending, "never_started"), "", "",
			"card.charge charge-1 goes from pending to review and waits there for a person", "", ""},
		{VerbHold, stuckJob, "", "",
			"card.charge charge-1 goes from running to review and waits there for a person; w-7 loses its lease, and what it still reports is kept as evidence", "", ""},
		{VerbHold, job(Running, "may_have_happened"), "", "id stop",
			"card.charge charge-1 goes from running to review and waits there for a person; w-7 loses its lease, and what it still reports is kept as evidence",
			"the worker w-7 is alive and learns it at its next heartbeat; what it is doing may still happen", "stop"},

		{VerbRequeue, job(Running, "may_have_happened"), "its worker is alive (heartbeat 3s ago, limit 1m0s); only \"hold\" can stop it", "id", "-", "-", "may_have_happened"},
		{VerbDone, job(Done, "happened"), "it is done, and nothing leaves done", "receipt ", "-", "-", ""},
		{VerbRequeue, job(Pending, "never_started"), "it is pending already", "", "-", "-", ""},
		{VerbHold, job(Review, "never_started"), "it is in review already", "", "-", "-", ""},
		{VerbHold, job(Dead, "never_started"), "a dead job waits for nobody; \"requeue\" or \"done\" can still be used on it", "", "-", "-", ""},
		{VerbHold, job("paused", "never_started"), `its state "paused" is not one that this jobtop knows`, "", "-", "-", ""},
	} {
		name := string(test.verb) + " of " + test.job.State + ", " + test.job.Evidence.Verdict
		if got := Unavailable(test.verb, test.job); got != test.unavailable {
			t.Errorf("%s: unavailable because %q, want %q", name, got, test.unavailable)
		}
		a := Ask(test.verb, test.job)
		var asks []string
		if a.Receipt {
			asks = append(asks, "receipt "+a.Suggested)
		}
		if a.TypedID {
			asks = append(asks, "id")
		}
		if a.Stop {
			asks = append(asks, "stop")
		}
		if got := strings.Join(asks, " "); got != test.asks {
			t.Errorf("%s: asks %q, want %q", name, got, test.asks)
		}
		if got := strings.Join(a.Confirmations(), " "); got != test.confirms {
			t.Errorf("%s: confirms %q, want %q", name, got, test.confirms)
		}
		if got := Preview(test.verb, test.job); test.preview != "-" && got != test.preview {
			t.Errorf("%s: previewed as\n%s, want\n%s", name, got, test.preview)
		}
		if got := Warning(test.verb, test.job); test.warning != "-" && got != test.warning {
			t.Errorf("%s: warns %q, want %q", name, got, test.warning)
		}
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1:                     "at a time that lies ahead (the clock went back)",
		0:                      "less than 1s ago",
		999 * time.Millisecond: "less than 1s ago",
		59 * time.Second:       "59s ago",
		119 * time.Second:      "1m ago",
		3*time.Hour - 1:        "2h ago",
		100 * 24 * time.Hour:   "100d ago",
		24*time.Hour - 1:       "23h ago",
		60*time.Minute - 1:     "59m ago",
		24 * time.Hour:         "1d ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
