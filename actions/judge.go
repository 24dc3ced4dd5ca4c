package actions

import "jobtop/store"

// History is what the record holds about the effect of one job.
type History struct {
	Attempts    []store.Attempt
	Receipt     *store.Receipt
	LateReports []store.LateReport
	// TakenElsewhere are receipt IDs that other jobs of the kind have: in a late
	// report they prove nothing.
	TakenElsewhere []string
}

// HistoryOf takes the history from a job's detail.
func HistoryOf(d store.Detail) History {
	return History{Attempts: d.Attempts, Receipt: d.Receipt, LateReports: d.LateReports}
}

// Judge weighs a history as jobtop.evidence does, in a program of its own, so that
// each can be checked by the other.
func Judge(h History) store.Evidence {
	if h.Receipt != nil {
		r := h.Receipt
		return withIntent(h, store.Evidence{
			Verdict: store.VerdictHappened, Attempt: &r.Attempt,
			ReceiptID: &r.ReceiptID, RecordedBy: &r.RecordedBy, RecordedAge: &r.RecordedAge,
		})
	}
	if l := firstProof(h); l != nil {
		return withIntent(h, store.Evidence{
			Verdict: store.VerdictHappened, Attempt: l.Attempt,
			ReceiptID: l.ReceiptID, RecordedBy: l.Worker, RecordedAge: &l.Age, Late: true,
		})
	}

	refusedLate := map[string]bool{}
	for _, l := range h.LateReports {
		if l.Effect != nil && *l.Effect == "refused" {
			refusedLate[l.LockToken] = true
		}
	}
	const started, unknown, refused, idle = 0, 1, 2, 3
	var last [4]*int // the newest attempt of each sort
	for i := range h.Attempts {
		a := &h.Attempts[i]
		outcome := ""
		if a.Outcome != nil {
			outcome = *a.Outcome
		}
		sort := idle
		switch {
		case outcome == "refused" || refusedLate[a.LockToken]:
			sort = refused
		case a.EffectAge != nil:
			sort = started
		case !a.RecordsIntent && outcome != "not_begun":
			sort = unknown
		}
		if last[sort] == nil || *last[sort] < a.Attempt {
			last[sort] = &a.Attempt
		}
	}
	for sort, verdict := range []string{
		started: store.VerdictMayHaveHappened,
		unknown: store.VerdictNotKnown,
		refused: store.VerdictDidNotHappen,
		idle:    store.VerdictNeverStarted,
	} {
		if last[sort] != nil {
			return withIntent(h, store.Evidence{Verdict: verdict, Attempt: last[sort]})
		}
	}
	return store.Evidence{Verdict: store.VerdictNeverStarted}
}

// firstProof is the first late report whose receipt is nobody else's.
func firstProof(h History) *store.LateReport {
	taken := map[string]bool{}
	for _, id := range h.TakenElsewhere {
		taken[id] = true
	}
	var first *store.LateReport
	for i := range h.LateReports {
		l := &h.LateReports[i]
		if l.ReceiptID != nil && !taken[*l.ReceiptID] && (first == nil || l.ID < first.ID) {
			first = l
		}
	}
	return first
}

// withIntent adds when the attempt that decides recorded its intent.
func withIntent(h History, e store.Evidence) store.Evidence {
	for i := range h.Attempts {
		if e.Attempt != nil && h.Attempts[i].Attempt == *e.Attempt {
			e.EffectAge = h.Attempts[i].EffectAge
		}
	}
	return e
}
