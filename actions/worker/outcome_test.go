package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"jobtop/actions/worker"
	"jobtop/store"
)

// TestOutcomes: what a handler does, before and after Begin, and what the record says.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	reason := errors.New("some reason")
	for name, c := range map[string]struct {
		begin    bool
		end      func() (worker.Receipt, error)
		state    string
		outcome  string
		category string
	}{
		"receipt":               {true, func() (worker.Receipt, error) { return worker.Receipt{ID: "r"}, nil }, "done", "done", ""},
		"receipt and an error":  {true, func() (worker.Receipt, error) { return worker.Receipt{ID: "r"}, reason }, "done", "done", ""},
		"receipt without Begin": {false, func() (worker.Receipt, error) { return worker.Receipt{ID: "r"}, nil }, "done", "done", ""},
		"error before":          {false, func() (worker.Receipt, error) { return worker.Receipt{}, reason }, "failed", "not_begun", "error"},
		"error after":           {true, func() (worker.Receipt, error) { return worker.Receipt{}, reason }, "review", "unknown", "error"},
		"refused":               {true, func() (worker.Receipt, error) { return worker.Receipt{}, worker.Refused("declined", reason) }, "failed", "refused", "declined"},
		"refused for good": {true, func() (worker.Receipt, error) {
			return worker.Receipt{}, worker.Final(worker.Refused("declined", reason))
		}, "dead", "refused", "declined"},
		"final error before":       {false, func() (worker.Receipt, error) { return worker.Receipt{}, worker.Final(reason) }, "dead", "not_begun", "error"},
		"final error after":        {true, func() (worker.Receipt, error) { return worker.Receipt{}, worker.Final(reason) }, "review", "unknown", "error"},
		"not begun":                {false, func() (worker.Receipt, error) { return worker.Receipt{}, worker.NotBegun("bad payload", reason) }, "failed", "not_begun", "bad payload"},
		"not begun, but it was":    {true, func() (worker.Receipt, error) { return worker.Receipt{}, worker.NotBegun("confused", reason) }, "review", "unknown", "confused"},
		"unknown":                  {true, func() (worker.Receipt, error) { return worker.Receipt{}, worker.Unknown("timeout", reason) }, "review", "unknown", "timeout"},
		"neither":                  {true, func() (worker.Receipt, error) { return worker.Receipt{}, nil }, "review", "unknown", "no receipt"},
		"neither, before":          {false, func() (worker.Receipt, error) { return worker.Receipt{}, nil }, "failed", "not_begun", "no receipt"},
		"panic before":             {false, func() (worker.Receipt, error) { panic("oops") }, "failed", "not_begun", "panic"},
		"panic after":              {true, func() (worker.Receipt, error) { panic("oops") }, "review", "unknown", "panic"},
		"end of the goroutine":     {true, func() (worker.Receipt, error) { runtime.Goexit(); return worker.Receipt{}, nil }, "review", "unknown", "panic"},
		"receipt with a newline":   {true, func() (worker.Receipt, error) { return worker.Receipt{ID: "r\n"}, nil }, "review", "unknown", "receipt invalid"},
		"receipt that is not text": {true, func() (worker.Receipt, error) { return worker.Receipt{ID: "r\xff\x00"}, nil }, "review", "unknown", "receipt invalid"},
		"receipt too long":         {true, func() (worker.Receipt, error) { return worker.Receipt{ID: strings.Repeat("r", 201)}, nil }, "review", "unknown", "receipt invalid"},
		"result that is no JSON":   {true, func() (worker.Receipt, error) { return worker.Receipt{ID: "r", Result: json.RawMessage("{no")}, nil }, "done", "done", ""},
		"error that is not text":   {true, func() (worker.Receipt, error) { return worker.Receipt{}, errors.New("a\x00b\xff") }, "review", "unknown", "error"},
		"error of a megabyte":      {true, func() (worker.Receipt, error) { return worker.Receipt{}, errors.New(strings.Repeat("x", 1<<20)) }, "review", "unknown", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRecord(t)
			r.enqueue(store.NewJob{ID: "job"})
			w := run(t, r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
				if c.begin {
					if _, err := job.Begin(ctx); err != nil {
						return worker.Receipt{}, err
					}
				}
				return c.end()
			}))
			now := r.becomes("job", c.state)
			if err := w.stopped(); err != nil {
				t.Error(err)
			}
			if now.Outcome != c.outcome || now.Category != c.category || now.Attempt != 1 {
				t.Errorf("the record shows %+v", now)
			}
		})
	}
}

// TestHandlerGetsItsJob: payload and numbers as enqueued, the effect key only by Begin,
// and the same one when it asks twice.
func TestHandlerGetsItsJob(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "job", EffectKey: "the key", Payload: json.RawMessage(`{"n": 1970670598291982290}`), MaxAttempts: 7})
	got := make(chan *worker.Job, 1)
	keys := make(chan string, 2)
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		got <- job
		for range 2 {
			key, err := job.Begin(ctx)
			if err != nil {
				return worker.Receipt{}, err
			}
			keys <- key
		}
		return worker.Receipt{ID: "r"}, nil
	})
	o.SourceVersion = "v1.2"
	run(t, o)
	job := arrives(t, "the handler runs", got)
	if job.ID != "job" || job.Kind != "charge" || job.Attempt != 1 || job.MaxAttempts != 7 || string(job.Payload) != `{"n": 1970670598291982290}` {
		t.Errorf("the handler got %+v", job)
	}
	if a, b := arrives(t, "Begin answers", keys), arrives(t, "Begin answers again", keys); a != "the key" || b != a {
		t.Errorf("Begin answered %q and %q", a, b)
	}
	r.becomes("job", "done")
	if n := r.count(`SELECT count(*) FROM jobtop.attempts WHERE worker = 'w1' AND source_version = 'v1.2' AND records_intent`); n != 1 {
		t.Error("the attempt does not say who ran it, from which version")
	}
}

// TestUnansweredIntentIsNoEffect: the intent stands in the record, but its answer never
// came, so the handler was never told to go on. That is said, and the job is tried again
// instead of going to review.
func TestUnansweredIntentIsNoEffect(t *testing.T) {
	t.Parallel()
	r := newRecord(t)
	r.enqueue(store.NewJob{ID: "job"})
	p, throughProxy := r.proxied(nil)
	giveUp := make(chan struct{})
	o := r.options(func(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
		p.mute.Store(true)
		ctx, cancel := context.WithCancel(ctx)
		go func() { <-giveUp; cancel() }()
		_, err := job.Begin(ctx)
		p.mute.Store(false)
		return worker.Receipt{}, err
	})
	o.DSN = throughProxy
	o.HeartbeatEvery, o.Concurrency = time.Hour, 1 // nothing else is to be muted
	w := run(t, o)
	eventually(t, "the intent stands", func() bool { return r.job("job").Intent })
	close(giveUp)
	now := r.becomes("job", "failed")
	if err := w.stopped(); err != nil {
		t.Error(err)
	}
	if now.Outcome != "refused" || now.Verdict != store.VerdictDidNotHappen || !now.Intent || now.LateReports != 0 {
		t.Errorf("the record shows %+v", now)
	}
}
