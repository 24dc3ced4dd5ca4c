package actions

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"jobtop/store"
)

// Each refusal of act, forced in the database and put into words.
func TestRefusals(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	tests := map[string]struct {
		order func(*ledger) Order
		want  string // a regular expression for the whole line
	}{
		"not_found": {
			func(*ledger) Order {
				return Order{Verb: VerbDead, JobID: "charge-none", SeenState: Review, SeenVersion: 3, Reason: "x"}
			},
			`there is no job charge-none; nothing was changed`,
		},
		"changed": {
			func(l *ledger) Order {
				id, _ := l.bring(Review, false)
				o := l.order(VerbDead, id)
				l.must(l.runner("bob"), l.order(VerbRequeue, id), Applied)
				return o
			},
			`changed meanwhile: bob requeued it (less than 1s|\d+s) ago; it is pending, version 4; nothing was changed by this act`,
		},
		"changed round and back": {
			// The same state again, and the same job; but not the one that was seen.
			func(l *ledger) Order {
				id, _ := l.bring(Review, false)
				o := l.order(VerbDead, id)
				l.must(l.runner("bob"), l.order(VerbRequeue, id), Applied)
				l.must(l.runner("bob"), l.order(VerbHold, id), Applied)
				return o
			},
			`changed meanwhile: bob held it for review .* ago; it is in review, version 5; nothing was changed by this act`,
		},
		"alive": {
			func(l *ledger) Order {
				id, _ := l.bring(Running, true)
				o := l.order(VerbRequeue, id)
				l.exec("SELECT jobtop.heartbeat($1, $2::text::uuid)", id, *l.see(id).LockToken)
				return o
			},
			`charge-\d+ is not stuck \(any more\): its worker gave a sign of life; it is running, version 2; "hold" can stop it`,
		},
		"no_edge": {
			func(l *ledger) Order {
				id, _ := l.bring(Done, false)
				return l.order(VerbRequeue, id)
			},
			`charge-\d+ was not requeued; it is done, version 3: nothing leaves done`,
		},
		"no_edge from dead": {
			func(l *ledger) Order {
				id, _ := l.bring(Dead, false)
				return l.order(VerbHold, id)
			},
			`charge-\d+ was not held for review; it is dead, version 3: there is no way from there to review`,
		},
		"no_edge to where it is": {
			func(l *ledger) Order {
				id, _ := l.bring(Review, false)
				return l.order(VerbHold, id)
			},
			`charge-\d+ was not held for review; it is in review, version 3: that is where it would go`,
		},
		"no_edge from done with the same receipt": {
			func(l *ledger) Order {
				id, _ := l.bring(Done, false)
				o := l.order(VerbDone, id)
				o.ReceiptID = "ch_" + id
				return o
			},
			`charge-\d+ was not marked done; it is done, version 3: it has that receipt already`,
		},
		"receipt_conflict": {
			func(l *ledger) Order {
				other, kind := l.bring(Done, false)
				id := other + "-b"
				l.exec("SELECT jobtop.enqueue($1, $2)", id, kind)
				o := l.order(VerbDone, id)
				o.ReceiptID = "ch_" + other
				return o
			},
			`charge-\d+-b was not marked done: receipt ch_(charge-\d+) belongs to job (charge-\d+); one receipt proves one job, so compare the two at the provider`,
		},
		"uncertain": {
			func(l *ledger) Order {
				id, _ := l.bring(Review, false)
				o := l.order(VerbRequeue, id)
				o.Confirmations = nil
				return o
			},
			`charge-\d+ was not requeued: the record says MAY HAVE HAPPENED; look its effect up at the provider, then confirm by its id; it is in review, version 3`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := base.in(t)
			o := test.order(l)
			before := l.get("SELECT coalesce((SELECT j::text FROM jobtop.jobs j WHERE j.id = $1), 'none')", o.JobID)
			result := l.must(l.runner("alice"), o, Refused)
			kind, _, _ := strings.Cut(name, " ")
			if str(result.Answer.Refusal) != kind {
				t.Errorf("refused as %s", str(result.Answer.Refusal))
			}
			if line := Explain(result); !regexp.MustCompile("^" + test.want + "$").MatchString(line) {
				t.Errorf("explained as %q", line)
			}
			if after := l.get("SELECT coalesce((SELECT j::text FROM jobtop.jobs j WHERE j.id = $1), 'none')", o.JobID); after != before {
				t.Errorf("it was changed:\n%s\n%s", before, after)
			}
			if got := l.get("SELECT outcome || ' ' || refusal FROM jobtop.actions WHERE action_id = $1::text::uuid", result.Order.ActionID); got != "refused "+kind {
				t.Errorf("recorded as %q", got)
			}
			if ExitStatus([]Result{result}) != 3 {
				t.Errorf("exit status %d", ExitStatus([]Result{result}))
			}
		})
	}
}

// The runner sends no order without a reason or, for done, a receipt; somebody who
// calls act by other means is refused by the database.
func TestRefusalsThatTheRunnerForestalls(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, _ := l.bring(Review, false)
	for refusal, test := range map[string]struct{ verb, reason, want string }{
		"reason_required":  {"dead", " \u00a0", "an act needs a reason"},
		"receipt_required": {"done", "x", "takes the provider's receipt ID"},
	} {
		o := l.order(Verb(test.verb), id)
		o.Reason, o.ReceiptID = strings.TrimSpace(test.reason), ""
		result := l.must(l.runner("alice"), o, Errored)
		var invalid *InvalidError
		if !errors.As(result.Err, &invalid) {
			t.Errorf("%s: %v", refusal, result.Err)
		}
		if got := l.get("SELECT count(*)::text FROM jobtop.actions WHERE job_id = $1", id); got != "0" {
			t.Errorf("it was sent all the same")
		}

		answer, err := l.db.Act(context.Background(), store.ActRequest{ActionID: uuid.NewString(), Verb: test.verb, JobID: id, SeenState: "review",
			SeenVersion: o.SeenVersion, Operator: "alice", Reason: o.Reason})
		if err != nil || str(answer.Refusal) != refusal {
			t.Fatalf("%s: %+v, %v", refusal, answer, err)
		}
		if line := Explain(Result{Order: o, Outcome: Refused, Answer: answer}); !strings.Contains(line, test.want) {
			t.Errorf("explained as %q", line)
		}
		l.pastGuard("DELETE FROM jobtop.actions")
	}
	if l.state(id) != Review {
		t.Errorf("it is %s", l.state(id))
	}
}

// Two operators see the same job and act: one wins, the other learns who and when.
func TestTwoOperatorsOneJob(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	for range 20 {
		id, _ := l.bring(Review, false)
		orders := []Order{l.order(VerbRequeue, id), l.order(VerbDone, id)}
		names := []string{"alice", "bob"}
		results := make([]Result, 2)
		done := make(chan int)
		for i := range orders {
			go func() {
				results[i] = l.runner(names[i]).Run(context.Background(), orders[i])
				done <- i
			}()
		}
		<-done
		<-done
		win := 0
		if results[1].Outcome == Applied {
			win = 1
		}
		lose := 1 - win
		if results[win].Outcome != Applied || results[lose].Outcome != Refused {
			t.Fatalf("%s and %s", Explain(results[0]), Explain(results[1]))
		}
		line := Explain(results[lose])
		want := names[win] + " " + map[int]string{0: "requeued it", 1: "marked it done"}[win]
		if !strings.Contains(line, want) || !strings.Contains(line, "ago") || !strings.Contains(line, "version 4") {
			t.Errorf("the loser is told %q", line)
		}
		if State(l.see(id).State) != orders[win].Verb.Target() {
			t.Errorf("%s, and the job is %s", Explain(results[win]), l.see(id).State)
		}
	}
}

// An operator acts on a job that a worker has claimed meanwhile: the token is told.
func TestOperatorAndWorkerOneJob(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	id, kind := l.bring(Pending, false)
	o := l.order(VerbDead, id)
	token := l.claim(id, kind, true)
	line := Explain(l.must(l.runner("alice"), o, Refused))
	if !strings.Contains(line, "w-7 claimed it") || !strings.Contains(line, token) || !strings.Contains(line, "it is running, version 2") {
		t.Errorf("explained as %q", line)
	}

	// And one that was thought dead and comes back with a receipt: the requeue stands,
	// the receipt is kept, and the next requeue is warned.
	l.begin(id, token)
	l.silence(id)
	l.must(l.runner("alice"), l.order(VerbRequeue, id), Applied)
	if got := l.get("SELECT jobtop.complete($1, $2::text::uuid, 'ch_late')", id, token); got != "lease_lost" {
		t.Fatalf("a fenced worker's receipt was answered with %s", got)
	}
	job := l.see(id)
	if Headline(job.Evidence) != "HAPPENED (LATE)" || Ask(VerbDone, job).Suggested != "ch_late" {
		t.Errorf("%s, suggests %q", Headline(job.Evidence), Ask(VerbDone, job).Suggested)
	}
	done := l.order(VerbDone, id)
	done.ReceiptID = Ask(VerbDone, job).Suggested
	l.must(l.runner("alice"), done, Applied)
	if got := l.get("SELECT receipt_id || ' ' || recorded_by FROM jobtop.receipts WHERE job_id = $1", id); got != "ch_late alice" {
		t.Errorf("the receipt is %q", got)
	}
}

// Unavailable and Ask agree with what the database then says, in every state, with
// every verb, of a job that is alive or stuck, whatever its evidence.
func TestVerbsAgreeWithTheDatabase(t *testing.T) {
	t.Parallel()
	base := newLedger(t)
	for _, from := range States() {
		for _, stuck := range []bool{false, true} {
			if stuck && from != Running {
				continue
			}
			for _, v := range Verbs() {
				t.Run(string(from)+" "+string(v)+map[bool]string{true: " stuck"}[stuck], func(t *testing.T) {
					l := base.in(t)
					id, _ := l.bring(from, stuck)
					job := l.see(id)
					result := l.runner("alice").Run(context.Background(), l.order(v, id))
					why := Unavailable(v, job)
					if (why == "") != (result.Outcome == Applied) {
						t.Errorf("unavailable says %q, the database %s", why, Explain(result))
					}
					if why != "" {
						return
					}
					if want := job.Kind + " " + id + " goes from " + string(from) + " to " + string(v.Target()); !strings.HasPrefix(Preview(v, job), want) {
						t.Errorf("previewed as %q", Preview(v, job))
					}
					if now := l.see(id); State(now.State) != v.Target() {
						t.Errorf("it went to %s", now.State)
					}
					if asks := Ask(v, job); len(asks.Confirmations()) > 0 {
						// What was asked was asked with reason.
						id, _ := l.bring(from, stuck)
						o := l.order(v, id)
						o.Confirmations = nil
						l.must(l.runner("alice"), o, Refused)
					}
				})
			}
		}
	}
}
