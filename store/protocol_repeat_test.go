package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"jobtop/store"
)

// TestSeedsEveryCallCanBeRepeated calls every function twice with the same arguments, as
// a worker does whose acknowledgement was lost: the answer is the same, and the record
// does not change a second time.
func TestSeedsEveryCallCanBeRepeated(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, prepare := range map[string]func(l *ledger) (call func() (any, error), want any){
		"claim": func(l *ledger) (func() (any, error), any) {
			l.enqueue(store.NewJob{ID: "job"}, store.NewJob{ID: "more"})
			token := newToken()
			return func() (any, error) {
				return l.db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"charge"}, Batch: 1})
			}, []store.Claimed{{JobID: "job", Kind: "charge", Attempt: 1, MaxAttempts: 5, EffectKey: "job"}}
		},
		"claim of nothing": func(l *ledger) (func() (any, error), any) {
			token := newToken()
			return func() (any, error) {
				return l.db.Claim(ctx, store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"charge"}, Batch: 1})
			}, []store.Claimed(nil)
		},
		"heartbeat": func(l *ledger) (func() (any, error), any) {
			token, n := l.take("job", false), int64(7)
			return func() (any, error) { return l.db.Heartbeat(ctx, store.Beat{JobID: "job", Token: token, Progress: &n}) }, true
		},
		"heartbeat, lease lost": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", false)
			l.stop("job")
			return func() (any, error) { return l.db.Heartbeat(ctx, store.Beat{JobID: "job", Token: token}) }, false
		},
		"begin_effect": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", false)
			return func() (any, error) { return l.db.BeginEffect(ctx, "job", token) }, store.Intent{Answer: store.IntentBegin, EffectKey: "job"}
		},
		"begin_effect, lease lost": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", false)
			l.stop("job")
			return func() (any, error) { return l.db.BeginEffect(ctx, "job", token) }, store.Intent{Answer: store.IntentLeaseLost}
		},
		"begin_effects": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", false)
			return func() (any, error) { return l.db.BeginEffects(ctx, []string{"unknown", "job"}, token) },
				[]store.Intent{{Answer: store.IntentNotFound}, {Answer: store.IntentBegin, EffectKey: "job"}}
		},
		"begin_next": func(l *ledger) (func() (any, error), any) {
			last := store.Completion{JobID: "last", Token: l.take("last", true), ReceiptID: "r", Result: json.RawMessage(`{"a": 1}`)}
			l.enqueue(store.NewJob{ID: "job", EffectKey: "key", Payload: json.RawMessage(`[1]`)}, store.NewJob{ID: "more"})
			return nextCall(l, last), store.Next{Completed: "done", Answer: store.IntentBegin,
				Job: store.Claimed{JobID: "job", Kind: "charge", Attempt: 1, MaxAttempts: 5, EffectKey: "key", Payload: json.RawMessage(`[1]`)}}
		},
		"begin_next, nothing due": func(l *ledger) (func() (any, error), any) {
			last := store.Completion{JobID: "last", Token: l.take("last", true), ReceiptID: "r"}
			return nextCall(l, last), store.Next{Completed: "done", Answer: store.IntentNone}
		},
		"begin_next, lease lost": func(l *ledger) (func() (any, error), any) {
			last := store.Completion{JobID: "last", Token: l.take("last", true), ReceiptID: "r"}
			l.stop("last")
			l.enqueue(store.NewJob{ID: "job"})
			return nextCall(l, last), store.Next{Completed: store.AnswerLeaseLost, Answer: store.IntentBegin,
				Job: store.Claimed{JobID: "job", Kind: "charge", Attempt: 1, MaxAttempts: 5, EffectKey: "job"}}
		},
		"begin_next, receipt invalid": func(l *ledger) (func() (any, error), any) {
			last := store.Completion{JobID: "last", Token: l.take("last", true), ReceiptID: "\x00"}
			l.enqueue(store.NewJob{ID: "job"})
			return nextCall(l, last), store.Next{Completed: store.AnswerReceiptInvalid, Answer: store.IntentNone}
		},
		"begin_next, happened": func(l *ledger) (func() (any, error), any) {
			first := l.take("job", true)
			l.stop("job")
			l.complete("job", first, "of the first")
			l.act("job", "requeue", "may_have_happened")
			last := store.Completion{JobID: "unknown", Token: newToken(), ReceiptID: "r"}
			return nextCall(l, last), store.Next{Completed: store.AnswerNotFound, Answer: store.IntentHappened, ReceiptID: "of the first",
				Job: store.Claimed{JobID: "job", Kind: "charge", Attempt: 2, MaxAttempts: 5, EffectKey: "job"}}
		},
		"complete": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", true)
			return func() (any, error) {
				return l.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: "r", Result: json.RawMessage(`{"a": 1}`)})
			}, "done"
		},
		"complete, lease lost": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", true)
			l.stop("job")
			return func() (any, error) {
				return l.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: "r"})
			}, store.AnswerLeaseLost
		},
		"complete, receipt taken": func(l *ledger) (func() (any, error), any) {
			l.complete("other", l.take("other", true), "it's r")
			token := l.take("job", true)
			return func() (any, error) {
				return l.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: "it's r"})
			}, "review"
		},
		"complete, receipt invalid": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", true)
			return func() (any, error) {
				return l.db.Complete(ctx, store.Completion{JobID: "job", Token: token, ReceiptID: " r"})
			}, store.AnswerReceiptInvalid
		},
		"complete, unknown job": func(l *ledger) (func() (any, error), any) {
			token := newToken()
			l.enqueue(store.NewJob{ID: "job"})
			return func() (any, error) {
				return l.db.Complete(ctx, store.Completion{JobID: "unknown", Token: token, ReceiptID: "r"})
			}, store.AnswerNotFound
		},
		"complete as a batch": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", true)
			return func() (any, error) {
				return l.db.CompleteAll(ctx, []store.Completion{{JobID: "job", Token: token, ReceiptID: "r"}, {JobID: "unknown", Token: token, ReceiptID: "r"}})
			}, []store.Answer[string]{{Answer: "done"}, {Answer: store.AnswerNotFound}}
		},
		"fail, not begun":                 failTwice(store.EffectNotBegun, true, false, "failed"),
		"fail, for good":                  failTwice(store.EffectNotBegun, false, false, "dead"),
		"fail, refused":                   failTwice(store.EffectRefused, true, true, "failed"),
		"fail, unknown":                   failTwice(store.EffectUnknown, true, true, "review"),
		"fail, not begun after an intent": failTwice(store.EffectNotBegun, true, true, "review"),
		"fail, lease lost": func(l *ledger) (func() (any, error), any) {
			token := l.take("job", true)
			l.stop("job")
			return func() (any, error) {
				return l.db.Fail(ctx, store.Failure{JobID: "job", Token: token, Effect: store.EffectRefused, Retry: true})
			}, store.AnswerLeaseLost
		},
		"fail, unknown job": func(l *ledger) (func() (any, error), any) {
			token := newToken()
			l.enqueue(store.NewJob{ID: "job"})
			return func() (any, error) {
				return l.db.Fail(ctx, store.Failure{JobID: "unknown", Token: token, Effect: store.EffectUnknown})
			}, store.AnswerNotFound
		},
		"once, with a holder": func(l *ledger) (func() (any, error), any) {
			l.enqueue(store.NewJob{ID: "job"})
			return func() (any, error) { return l.db.Once(ctx, "key", time.Hour, "w") }, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			call, want := prepare(l)
			first, err := call()
			if err != nil || !reflect.DeepEqual(first, want) {
				t.Fatalf("the first call answered %+v, %v; not %+v", first, err, want)
			}
			record := l.everything()
			for range 2 {
				again, err := call()
				if err != nil || !reflect.DeepEqual(again, want) {
					t.Fatalf("the repeated call answered %+v, %v; not %+v", again, err, want)
				}
				if now := l.everything(); now != record {
					t.Fatalf("the repeated call changed the record from\n%s\nto\n%s", record, now)
				}
			}
		})
	}
}

func failTwice(effect string, retry, begin bool, want string) func(l *ledger) (func() (any, error), any) {
	return func(l *ledger) (func() (any, error), any) {
		token := l.take("job", begin)
		return func() (any, error) {
			return l.db.Fail(context.Background(), store.Failure{JobID: "job", Token: token, Effect: effect, Retry: retry, Category: "c", Detail: "d"})
		}, want
	}
}

// nextCall is a call of BeginNext under one token.
func nextCall(l *ledger, last store.Completion) func() (any, error) {
	request := store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"charge"}}
	return func() (any, error) { return l.db.BeginNext(context.Background(), request, &last) }
}

// everything is the whole record, heartbeats aside.
func (l *ledger) everything() string {
	l.t.Helper()
	return l.get(`SELECT jsonb_build_object(
		'jobs', (SELECT jsonb_agg(to_jsonb(j) - 'heartbeat_at' ORDER BY j.id) FROM jobtop.jobs j),
		'attempts', (SELECT jsonb_agg(to_jsonb(a) ORDER BY a.job_id, a.attempt) FROM jobtop.attempts a),
		'receipts', (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.job_id) FROM jobtop.receipts r),
		'late', (SELECT jsonb_agg(to_jsonb(l) ORDER BY l.id) FROM jobtop.late_reports l),
		'once', (SELECT jsonb_agg(to_jsonb(o) ORDER BY o.key) FROM jobtop.once o),
		'actions', (SELECT jsonb_agg(to_jsonb(x) ORDER BY x.at) FROM jobtop.actions x))`)
}

// TestSeedsEnqueueOfAKnownID: the id is the job. A repeated enqueue answers false, which
// tells its caller that the job is there, and changes nothing, whatever the job has come to.
func TestSeedsEnqueueOfAKnownID(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	token := l.take("job", true)
	l.complete("job", token, "r")
	before := l.row("job")
	for _, j := range []store.NewJob{{ID: "job", Kind: "charge"}, {ID: "job", Kind: "other", Payload: json.RawMessage(`1`), MaxAttempts: 9}} {
		if added, err := l.db.Enqueue(context.Background(), j); added || err != nil {
			t.Errorf("enqueue again: %v, %v", added, err)
		}
	}
	if after := l.row("job"); after != before {
		t.Errorf("enqueue changed\n%s\nto\n%s", before, after)
	}
}

// TestRepeatedClaimRacesWithItself: many calls with one token at once, as after a lost
// answer whose first call is still under way, get the same jobs and take no more.
func TestRepeatedClaimRacesWithItself(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, 40) n`)
	token := newToken()
	answers := make([]string, 8)
	var calls sync.WaitGroup
	for i := range answers {
		calls.Go(func() { answers[i] = l.claimAs(token, 5) })
	}
	calls.Wait()
	held := l.get(`SELECT string_agg(id, ' ' ORDER BY run_at, id) FROM jobtop.jobs WHERE lock_token = $1`, token)
	for i, answer := range answers {
		if len(answer) != len(held) {
			t.Errorf("call %d got %q; the token holds %q", i, answer, held)
		}
	}
	l.is("5", `SELECT count(*) FROM jobtop.jobs WHERE state = 'running'`)
	l.is("5", `SELECT count(*) FROM jobtop.attempts`)
}

// TestRepeatedClaimGetsWhatItStillHolds: between the claim and its repetition some jobs
// may have ended.
func TestRepeatedClaimGetsWhatItStillHolds(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.enqueue(store.NewJob{ID: "a"}, store.NewJob{ID: "b"}, store.NewJob{ID: "c"}, store.NewJob{ID: "d"})
	token, ids := l.claim(3)
	if ids != "a b c" {
		t.Fatal(ids)
	}
	l.complete("a", token, "r")
	l.stop("b")
	if ids := l.claimAs(token, 3); ids != "c" {
		t.Errorf("the repeated claim got %q", ids)
	}
	l.complete("c", token, "r2")
	if ids := l.claimAs(token, 3); ids != "" {
		t.Errorf("the repeated claim got %q", ids)
	}
	l.job("d", "pending", 0, store.VerdictNeverStarted)
}

// TestClaimNeedsReadCommitted: under a fixed snapshot a repeated claim could not see what
// the first one took, so it is refused.
func TestClaimNeedsReadCommitted(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	conn := l.session()
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		_, err := conn.Exec(context.Background(), fmt.Sprintf(`BEGIN ISOLATION LEVEL %s; SELECT jobtop.claim('w', gen_random_uuid(), '{charge}')`, level))
		if sqlstate(err) != "JT010" {
			t.Errorf("%s: %v", level, err)
		}
		if _, err := conn.Exec(context.Background(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}
