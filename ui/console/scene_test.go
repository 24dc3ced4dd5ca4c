package console

import (
	"fmt"
	"time"

	"jobtop/store"
)

// scene is a system with something of everything: jobs in each state and with each
// verdict, stuck ones of both kinds, a late receipt, text that means harm.
func scene() *fake {
	at := time.Date(2026, 3, 14, 12, 4, 0, 0, time.UTC)
	h, m, s := time.Hour, time.Minute, time.Second
	job := func(id, kind, state string, version int64, attempt int, age time.Duration, verdict string, change ...func(*store.Job)) store.Job {
		j := store.Job{
			ID: id, Kind: kind, State: state, Version: version, Attempt: attempt, MaxAttempts: 5, EffectKey: id, CreatedAge: age + h,
			StateAge: age, HeartbeatTimeout: time.Minute, SourceVersion: ptr("v4.2.1"), Evidence: store.Evidence{Verdict: verdict},
		}
		if attempt > 0 {
			j.Worker, j.Evidence.Attempt = ptr("w-7"), ptr(attempt)
		}
		for _, c := range change {
			c(&j)
		}
		return j
	}
	failed := func(category, detail string) func(*store.Job) {
		return func(j *store.Job) { j.ErrorCategory, j.ErrorDetail = &category, &detail }
	}
	intent := func(age time.Duration) func(*store.Job) {
		return func(j *store.Job) { j.EffectAge, j.Evidence.EffectAge = &age, &age }
	}
	stuck := func(over time.Duration) func(*store.Job) {
		return func(j *store.Job) {
			j.LockToken, j.StuckFor, j.HeartbeatAge = ptr("6f9619ff-8b86-4d11-b42d-00c04fc964ff"), &over, ptr(over+time.Minute)
			j.ClaimedAge = ptr(over + 2*time.Minute)
		}
	}
	alive := func(j *store.Job) {
		j.LockToken, j.HeartbeatAge, j.ClaimedAge = ptr("7c9619ff-8b86-4d11-b42d-00c04fc964ff"), ptr(3*time.Second), ptr(40*time.Second)
	}
	receipt := func(id string, late bool) func(*store.Job) {
		return func(j *store.Job) {
			j.Evidence.ReceiptID, j.Evidence.RecordedBy, j.Evidence.RecordedAge, j.Evidence.Late = &id, ptr("w-3"), ptr(20*time.Minute), late
		}
	}
	f := &fake{
		jobs: []store.Job{
			job("charge-10442", "card.charge", "review", 3, 1, 2*h, store.VerdictMayHaveHappened, intent(2*h), failed("provider timeout", "no answer within 30s")),
			job("charge-10467", "card.charge", "review", 5, 2, 2*h, store.VerdictMayHaveHappened, intent(2*h), failed("provider timeout", "no answer within 30s")),
			job("invoice-88121", "invoice.send", "review", 3, 1, 51*m, store.VerdictHappened, receipt("in_9901", true)),
			job("invoice-88140", "invoice.send", "review", 6, 3, 40*m, store.VerdictNeverStarted),
			job("mail-30752", "mail.send", "review", 3, 1, 25*m, store.VerdictNotKnown, failed("connection lost", "\x1b]0;owned\x07 \u202egnp.exe password=hunter2 after\tthe tab")),
			job("charge-11549", "card.charge", "running", 2, 1, 16*m, store.VerdictMayHaveHappened, intent(16*m), stuck(14*m)),
			job("report-517", "report.build", "running", 4, 2, 9*m, store.VerdictNeverStarted, stuck(7*m), func(j *store.Job) {
				j.HeartbeatAge, j.Progress, j.ProgressAge, j.ProgressTimeout = ptr(2*s), ptr(int64(41)), ptr(8*m), ptr(time.Minute)
			}),
			job("charge-11601", "card.charge", "running", 2, 1, 40*s, store.VerdictMayHaveHappened, intent(39*s), alive),
			job("invoice-90001", "invoice.send", "pending", 1, 0, 38*s, store.VerdictNeverStarted, func(j *store.Job) { j.DueFor = 38 * s }),
			job("invoice-90002", "invoice.send", "failed", 3, 1, 70*s, store.VerdictDidNotHappen, failed("declined", "card declined"), func(j *store.Job) { j.DueFor = -20 * s }),
			job("charge-10440", "card.charge", "dead", 3, 1, 5*h, store.VerdictDidNotHappen, failed("declined", "do not honour")),
			job("charge-9001", "card.charge", "done", 3, 1, 3*m, store.VerdictHappened, receipt("ch_8121", false)),
		},
		overview: store.Overview{
			Rates: []store.Rate{
				{From: "pending", To: "running", Count: 205, Span: 5 * m}, {From: "failed", To: "running", Count: 2, Span: 5 * m},
				{From: "running", To: "done", Count: 195, Span: 5 * m}, {From: "running", To: "review", Count: 2, Span: 5 * m},
				{From: "running", To: "failed", Count: 6, Span: 5 * m}, {From: "review", To: "pending", Count: 1, Span: 5 * m},
			},
			Kinds: []store.KindFigures{
				{Kind: "invoice.send", Due: exactly(812), OldestDue: ptr(38 * s), Running: exactly(22), Failed: exactly(40), Review: exactly(2), Dead: exactly(0),
					Ended: 128, Done: 120, Median: ptr(900 * time.Millisecond), P95: ptr(4100 * time.Millisecond), Span: 5 * m},
				{Kind: "card.charge", Due: exactly(368), OldestDue: ptr(12 * s), Running: exactly(18), Failed: exactly(21), Review: exactly(2), Dead: exactly(1),
					Ended: 100, Done: 75, Median: ptr(2 * s), P95: ptr(9800 * time.Millisecond), Span: 5 * m},
				{Kind: "mail.send", Due: exactly(0), Review: exactly(1), Span: 5 * m},
				{Kind: "report.build", Due: exactly(0), Running: exactly(1), Span: 5 * m},
			},
			Done:        []int64{12, 18, 26, 33, 39, 33, 27, 27, 33, 39, 39, 33, 39, 33, 26, 18, 12, 6, 6, 12, 12, 18, 26, 33, 39, 39, 33, 26, 33, 39},
			DoneSampled: make([]bool, 30),
			Receipts: []store.Receipt{
				{JobID: "charge-9001", Kind: "card.charge", ReceiptID: "ch_8121", Attempt: 1, RecordedBy: "w-3", RecordedAge: 12 * s},
				{JobID: "invoice-89999", Kind: "invoice.send", ReceiptID: "in_9917", Attempt: 1, RecordedBy: "w-1", RecordedAge: 3 * m},
			},
			Health: store.Health{OldestTransaction: ptr(4 * s), DeadShare: ptr(0.02), Whole: true},
		},
		payloads: map[string]string{
			"charge-10442": `{"amount":1970670598291982290,"card":"4111111111111111","customer":{"id":7,"token":"tok_live_1"},"note":"` + `\u001b[2J` + `"}`,
		},
		server: store.Server{
			Database: "orders", Host: "db-1", Role: "oncall", Version: 150018, CanView: true, CanAct: true, CanReadPayload: true,
			Schema: store.SchemaStatus{Have: 1, Want: 1},
		},
		poll: store.Poll{
			Due: store.Count{N: 1, Precision: store.Exact}, OldestDue: ptr(38 * s), Stuck: store.Count{Precision: store.Exact},
			NewestHeartbeat: ptr(3 * s), SmallestTimeout: ptr(time.Minute), SeveralWorkers: true, At: at, RoundTrip: 4 * time.Millisecond, ServerCost: 2 * time.Millisecond,
			Paused: []store.Paused{{Kind: "mail.send", By: "bob", Reason: "provider is down", SinceAge: 20 * m}},
		},
		details: map[string]store.Detail{},
	}
	f.server.Edges = edges()
	f.actions = []store.Action{
		{ID: "0195a000-0000-7000-8000-000000000001", Verb: "requeue", JobID: ptr("invoice-90002"), Kind: ptr("invoice.send"), FromState: ptr("dead"), ToState: ptr("pending"),
			Operator: "bob", DBRole: "oncall", Reason: ptr("ticket 5512: address corrected"), Outcome: "applied", At: at.Add(-2 * m), Age: 2 * m, SeenState: ptr("dead"), SeenVersion: ptr(int64(2)), Version: ptr(int64(3))},
		{ID: "0195a000-0000-7000-8000-000000000002", Verb: "done", JobID: ptr("charge-9001"), Kind: ptr("card.charge"), FromState: ptr("review"), ToState: ptr("done"),
			Operator: "alice", DBRole: "oncall", Reason: ptr("the provider has it"), ReceiptID: ptr("ch_8121"), Outcome: "applied", At: at.Add(-3 * m), Age: 3 * m},
		{ID: "0195a000-0000-7000-8000-000000000003", Verb: "dead", JobID: ptr("charge-10467"), Kind: ptr("card.charge"),
			Operator: "bob\x1b[2J", DBRole: "oncall", Reason: ptr("\u202egiven up"), Outcome: "refused", Refusal: ptr("changed"), At: at.Add(-70 * m), Age: 70 * m},
	}
	d := store.Detail{CreatedAt: at.Add(-3 * h), ChangedAt: at.Add(-2 * h), ChangedBy: ptr("w-7"), ChangedHow: ptr("unknown")}
	d.Attempts = []store.Attempt{{
		Attempt: 1, LockToken: "6f9619ff-8b86-4d11-b42d-00c04fc964ff", Worker: "w-7", SourceVersion: ptr("v4.2.1"), ClaimedFrom: "pending",
		ClaimedAt: at.Add(-2*h - 31*s), ClaimedAge: 2*h + 31*s, RecordsIntent: true, EffectAt: ptr(at.Add(-2*h - 30*s)), EffectAge: ptr(2*h + 30*s), HeartbeatAt: ptr(at.Add(-2*h - 5*s)),
		FinishedAt: ptr(at.Add(-2 * h)), FinishedAge: ptr(2 * h), Outcome: ptr("unknown"), ToState: ptr("review"), ErrorCategory: ptr("provider timeout"), ErrorDetail: ptr("no answer within 30s"),
	}}
	d.Actions = []store.Action{{Verb: "hold", Operator: "bob", FromState: ptr("running"), ToState: ptr("review"), Outcome: "refused", Refusal: ptr("changed"), At: at.Add(-90 * m), Age: 90 * m}}
	d.LateReports = []store.LateReport{{Worker: ptr("w-2"), Attempt: ptr(1), Effect: ptr("unknown"), ErrorCategory: ptr("provider timeout"), At: at.Add(-80 * m), Age: 80 * m}}
	d.Counts.Attempts, d.Counts.Actions, d.Counts.LateReports = 1, 1, 1
	f.details["charge-10442"] = d
	return f
}

func exactly(n int64) store.Count { return store.Count{N: n, Precision: store.Exact} }

// many is a scene with n more jobs in review.
func many(n int) *fake {
	f := scene()
	for i := range n {
		verdict := []string{store.VerdictMayHaveHappened, store.VerdictNeverStarted, store.VerdictDidNotHappen, store.VerdictNotKnown}[i%4]
		f.jobs = append(f.jobs, store.Job{
			ID: fmt.Sprintf("bulk-%05d", i), Kind: []string{"card.charge", "mail.send", "invoice.send"}[i%3], State: "review", Version: 3, Attempt: 1, MaxAttempts: 5,
			Worker: ptr(fmt.Sprintf("w-%d", i%9)), EffectKey: fmt.Sprintf("bulk-%05d", i), StateAge: time.Duration(n-i) * time.Second, HeartbeatTimeout: time.Minute,
			ErrorCategory: ptr("provider timeout"), Evidence: store.Evidence{Verdict: verdict, Attempt: ptr(1)},
		})
	}
	return f
}

func contradiction() store.Contradiction {
	return store.Contradiction{JobID: "charge-9001", Kind: "card.charge", State: "done", Version: 3, Attempt: 1, Problem: store.DoneWithoutReceipt}
}
