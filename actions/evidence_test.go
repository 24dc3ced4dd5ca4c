package actions

import (
	"context"
	"strings"
	"testing"
	"time"

	"jobtop/store"
)

func TestReading(t *testing.T) {
	age, stuck := 2*time.Hour, time.Hour
	job := func(state State, e store.Evidence) store.Job {
		return store.Job{ID: "charge-1", State: string(state), Attempt: 2, EffectKey: "key-1", Evidence: e}
	}
	intent := store.Evidence{Verdict: "may_have_happened", Attempt: ptr(2), EffectAge: &age}
	stuckJob := job(Running, intent)
	stuckJob.StuckFor = &stuck
	taken := job(Review, intent)
	taken.ErrorCategory = ptr("receipt taken")
	tests := []struct {
		job      store.Job
		headline string
		reading  string
	}{
		{job(Review, intent), "MAY HAVE HAPPENED",
			"attempt 2 told the provider 2h ago, and no answer is recorded; look up key-1 at the provider before a requeue"},
		{stuckJob, "MAY HAVE HAPPENED",
			"attempt 2 told the provider 2h ago, and no answer is recorded; look up key-1 at the provider before a requeue"},
		{taken, "MAY HAVE HAPPENED",
			"attempt 2 brought a receipt that another job of its kind has; the error names both; compare the two at the provider: one receipt proves one job"},
		{job(Running, intent), "MAY HAVE HAPPENED",
			"attempt 2 began its effect 2h ago and is at it now"},
		{job(Running, store.Evidence{Verdict: "may_have_happened", Attempt: ptr(1), EffectAge: &age}), "MAY HAVE HAPPENED",
			"attempt 1 told the provider 2h ago, and no answer is recorded; look up key-1 at the provider before a requeue"},
		{job(Done, store.Evidence{Verdict: "happened", Attempt: ptr(2), ReceiptID: ptr("ch_1"), RecordedBy: ptr("w-7"), RecordedAge: &age}), "HAPPENED",
			"receipt ch_1, recorded by w-7 2h ago"},
		{job(Review, store.Evidence{Verdict: "happened", Attempt: ptr(1), ReceiptID: ptr("ch_1"), RecordedBy: ptr("w-7"), RecordedAge: &age, Late: true}), "HAPPENED (LATE)",
			"w-7 reported receipt ch_1 2h ago, after it had lost its lease; the job is not done by it: mark it done with that receipt"},
		{job(Review, store.Evidence{Verdict: "happened", ReceiptID: ptr("ch_1"), RecordedAge: &age, Late: true}), "HAPPENED (LATE)",
			"a worker reported receipt ch_1 2h ago, after it had lost its lease; the job is not done by it: mark it done with that receipt"},
		{job(Failed, store.Evidence{Verdict: "did_not_happen", Attempt: ptr(2)}), "DID NOT HAPPEN",
			"attempt 2 was definitely refused: the provider did not do it; a requeue is safe"},
		{job(Pending, store.Evidence{Verdict: "did_not_happen", Attempt: ptr(2)}), "DID NOT HAPPEN",
			"attempt 2 was definitely refused: the provider did not do it"},
		{job(Pending, store.Evidence{Verdict: "never_started"}), "NEVER STARTED",
			"no worker has claimed it yet"},
		{job(Dead, store.Evidence{Verdict: "never_started", Attempt: ptr(2)}), "NEVER STARTED",
			"no attempt recorded that its effect began; the last was attempt 2; a requeue is safe"},
		{job(Running, store.Evidence{Verdict: "never_started", Attempt: ptr(2)}), "NEVER STARTED",
			"attempt 2 has not begun its effect"},
		{job(Review, store.Evidence{Verdict: "not_known", Attempt: ptr(2)}), "NOT KNOWN",
			"attempt 2 ran under a worker that records no intents, so the record cannot tell; look up key-1 at the provider before a requeue"},
		{job(Running, store.Evidence{Verdict: "not_known", Attempt: ptr(2)}), "NOT KNOWN",
			"attempt 2 runs under a worker that records no intents, so the record cannot tell"},
		{job(Review, store.Evidence{Verdict: "something new"}), "NOT KNOWN",
			"the record cannot tell; look up key-1 at the provider before a requeue"},
	}
	for _, test := range tests {
		if got := Headline(test.job.Evidence); got != test.headline {
			t.Errorf("%+v: %s", test.job.Evidence, got)
		}
		if got := strings.Join(Reading(test.job), "; "); got != test.reading {
			t.Errorf("%s, %s reads\n%s, want\n%s", test.job.State, test.headline, got, test.reading)
		}
	}
}

// After an operator's decision the record says who judged what, and never that
// nothing had started.
func TestReadingTellsJudgements(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.bring(Review, false)
	l.must(l.runner("alice"), l.order(VerbRequeue, id), Applied)
	token := l.claim(id, kind, true)
	l.fail(id, token, "not_begun", false)
	l.must(l.runner("bob"), l.order(VerbRequeue, id), Applied)
	// A confirmation given where none was asked for is no judgement.
	other, _ := l.bring(Dead, false)
	o := l.order(VerbRequeue, other)
	o.Confirmations = []string{MayHaveHappened}
	l.must(l.runner("carol"), o, Applied)

	l.pastGuard("UPDATE jobtop.actions SET at = at - interval '90 minutes' WHERE job_id = $1 AND operator = 'alice'", id)

	lines := strings.Join(ReadingOf(l.detail(id)), "; ")
	for _, want := range []string{"alice judged attempt 1 not to have happened, 1h ago", "bob judged attempt 1 not to have happened"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q lacks %q", lines, want)
		}
	}
	if e := l.see(id).Evidence; Headline(e) != "MAY HAVE HAPPENED" {
		t.Errorf("the verdict became %s", Headline(e))
	}
	if j := Judgements(l.detail(id)); len(j) != 2 || j[0].Operator != "bob" || j[1].Reason != "ticket 5512" {
		t.Errorf("%+v", j)
	}
	if j := Judgements(l.detail(other)); len(j) != 0 {
		t.Errorf("%+v", j)
	}
}

func (l *ledger) detail(id string) store.Detail {
	l.t.Helper()
	d, err := l.db.Job(context.Background(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}
