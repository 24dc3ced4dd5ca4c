package worker

import (
	"context"
	"math/rand/v2"

	"jobtop/store"
)

// hold takes note of claimed jobs: from now on they get signs of life.
func (w *worker) hold(claimed []store.Claimed, token string) []*Job {
	jobs := make([]*Job, len(claimed))
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range claimed {
		job := &Job{ID: c.JobID, Kind: c.Kind, Attempt: c.Attempt, MaxAttempts: c.MaxAttempts, Payload: c.Payload, w: w, token: token}
		if w.BeginAtClaim && c.EffectKey != "" {
			job.intent, job.key = maybeBegun, c.EffectKey
		}
		job.ctx, job.cancel = context.WithCancelCause(w.handlers)
		jobs[i] = job
		w.held[job] = struct{}{}
	}
	return jobs
}

// release forgets a job that is no longer ours, or that we can do no more for.
func (w *worker) release(job *Job) {
	job.cancel(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, job)
}

func (w *worker) holding() []*Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := make([]*Job, 0, len(w.held))
	for job := range w.held {
		jobs = append(jobs, job)
	}
	return jobs
}

// giveSignsOfLife beats for every job held, until busy is done. A job whose beat
// is answered with a lost lease loses its context at once.
func (w *worker) giveSignsOfLife(busy context.Context) {
	wait := w.HeartbeatEvery
	for sleep(busy.Done(), wait-rand.N(wait/10+1)) {
		wait = w.HeartbeatEvery
		jobs := w.holding()
		beats := make([]store.Beat, len(jobs))
		for i, job := range jobs {
			beats[i] = job.beat()
		}
		answers, err := w.heartDB.Heartbeats(busy, beats)
		if busy.Err() != nil {
			return
		}
		if err != nil {
			w.Log.Warn("no answer to heartbeats", "worker", w.Name, "jobs", len(jobs), "error", err)
			wait = w.HeartbeatEvery / 4
			continue
		}
		for i, answer := range answers {
			switch {
			case answer.Err != nil:
				w.Log.Warn("no answer to a heartbeat", "job", jobs[i].ID, "error", answer.Err)
			case !answer.Answer:
				jobs[i].lose()
			}
		}
	}
}
