package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"jobtop/store"
)

// detailLimit bounds what is stored of an error's text, in bytes.
const detailLimit = 64 << 10

// workOn works on a job, and on each that comes with the receipt of the one before.
func (w *worker) workOn(stop context.Context, job *Job) {
	for job != nil {
		o, ended := w.work(job)
		if !ended {
			return
		}
		if job = w.finish(stop, job, o); job != nil && stop.Err() != nil {
			w.giveBack([]*Job{job})
			return
		}
	}
}

// work runs one job's handler and returns what it brings. False: there is nothing to record.
func (w *worker) work(job *Job) (o outcome, ended bool) {
	if job.ctx.Err() != nil && job.lostLease() {
		w.release(job) // while it waited; it has nothing to say
		return outcome{}, false
	}
	result := make(chan outcome, 1)
	go w.handle(job, result)
	select {
	case o := <-result:
		return o, true
	case <-w.final.Done():
		select {
		case o := <-result:
			return o, true
		default:
			w.leaveRunning(job)
			w.release(job)
			return outcome{}, false
		}
	}
}

// report records an outcome, with the same arguments again and again until there is an
// answer or the worker has to end.
func (w *worker) report(job *Job, o outcome) {
	defer w.release(job)
	log := w.log(job)
	retry := pause{min: w.RetryMin, max: w.RetryMax}
	for {
		answer, err := w.send(job, o)
		switch {
		case err == nil && answer == store.AnswerReceiptInvalid:
			log.Error("the handler brought a receipt ID that cannot be stored")
			o = outcome{failure: &Failure{Effect: store.EffectUnknown, Category: "receipt invalid",
				Err: fmt.Errorf("the receipt %.400q came back, which cannot be stored", o.receipt.ID)}}
			continue
		case err == nil:
			w.tell(job, o, answer)
			return
		case o.receipt.Result != nil && dataException(err):
			log.Error("the result cannot be stored; the receipt is, without it", "receipt", o.receipt.ID, "error", err)
			o.receipt.Result = nil
			continue
		}
		log.Warn("could not record what came of the job; trying again", "receipt", o.receipt.ID, "error", err)
		if !retry.wait(w.final) {
			w.leaveReport(job, o)
			return
		}
	}
}

func (w *worker) log(job *Job) *slog.Logger {
	return w.Log.With("job", job.ID, "kind", job.Kind, "attempt", job.Attempt)
}

// tell logs what an outcome led to.
func (w *worker) tell(job *Job, o outcome, answer string) {
	if answer == store.AnswerLeaseLost || answer == store.AnswerNotFound {
		w.log(job).Warn("the job is no longer ours; what came of it is kept as a late report", "answer", answer, "receipt", o.receipt.ID)
		return
	}
	w.log(job).Info("recorded", "state", answer, "receipt", o.receipt.ID, "category", o.category())
}

func (w *worker) send(job *Job, o outcome) (string, error) {
	if o.failure == nil {
		return w.db.Complete(w.final, o.completion(job))
	}
	backoff := o.backoff
	if backoff == nil {
		backoff = w.Backoff
	}
	return w.db.Fail(w.final, store.Failure{
		JobID: job.ID, Token: job.token, Effect: o.failure.Effect, Retry: !o.failure.Final,
		Category: o.failure.Category, Detail: cut(o.failure.Err), Backoff: backoff,
	})
}

func (o outcome) completion(job *Job) store.Completion {
	return store.Completion{JobID: job.ID, Token: job.token, ReceiptID: o.receipt.ID, Result: o.receipt.Result}
}

func (o outcome) category() string {
	if o.failure == nil {
		return ""
	}
	return o.failure.Category
}

// cut is an error's text, within detailLimit.
func cut(err error) string {
	if err == nil {
		return ""
	}
	s := err.Error()
	if len(s) > detailLimit {
		s = s[:detailLimit] + fmt.Sprintf("\n(cut, %d bytes in all)", len(s))
	}
	return s
}

// dataException reports whether the server could not read a value that it was given.
func dataException(err error) bool {
	var p *store.Problem
	return errors.As(err, &p) && strings.HasPrefix(p.Code, "22")
}
