package worker

import (
	"context"
	"errors"

	"jobtop/store"
)

// taken is the job that BeginNext brought, if any. One whose effect an earlier attempt has
// brought about comes without its key, so that Begin asks for itself.
func taken(n store.Next) []store.Claimed {
	switch n.Answer {
	case store.IntentBegin:
		return []store.Claimed{n.Job}
	case store.IntentHappened:
		n.Job.EffectKey = ""
		return []store.Claimed{n.Job}
	}
	return nil
}

// finish records an outcome and returns the job that came with that, or nil. Only a
// receipt brings one, and only while the worker goes on. A call that may have reached the
// server is repeated until it is answered, as what it took would be held by nobody.
func (w *worker) finish(stop context.Context, job *Job, o outcome) *Job {
	if !w.BeginAtClaim || o.failure != nil {
		w.report(job, o)
		return nil
	}
	request, last := w.request(newToken()), o.completion(job)
	retry := pause{min: w.RetryMin, max: w.RetryMax}
	sent := false
	for sent || stop.Err() == nil {
		n, err := w.db.BeginNext(w.final, request, &last)
		switch {
		case err == nil && n.Completed != store.AnswerReceiptInvalid:
			w.tell(job, o, n.Completed)
			w.release(job)
			if next := w.hold(taken(n), request.Token); len(next) > 0 {
				return next[0]
			}
			return nil
		case err == nil, dataException(err):
			w.report(job, o) // nothing was done; report knows what to leave out
			return nil
		}
		sent = sent || !errors.Is(err, store.ErrNotSent)
		w.log(job).Warn("could not record what came of the job; trying again", "receipt", o.receipt.ID, "error", err)
		if !retry.wait(w.final) {
			w.leaveReport(job, o)
			w.release(job)
			if sent {
				w.leaveClaim(request.Token)
			}
			return nil
		}
	}
	w.report(job, o)
	return nil
}
