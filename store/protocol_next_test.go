package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox"
	"jobtop/store/sandbox/sandboxtest"
)

// next completes the last job and begins the next one of kind charge.
func (l *ledger) next(last *store.Completion) (token string, n store.Next) {
	l.t.Helper()
	token = newToken()
	n, err := l.db.BeginNext(context.Background(), store.ClaimRequest{Worker: "w", Token: token, Kinds: []string{"charge"}}, last)
	if err != nil {
		l.t.Fatalf("begin_next: %v", err)
	}
	return token, n
}

// TestBeginNextLeavesTheRecordOfThreeCalls: jobs that went one after the other through
// begin_next alone leave the record that claim, begin_effect and complete leave.
func TestBeginNextLeavesTheRecordOfThreeCalls(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	var last *store.Completion
	for _, id := range []string{"a", "b", "c"} {
		l.enqueue(store.NewJob{ID: id, EffectKey: "key of " + id, Payload: json.RawMessage(`{"id": "` + id + `"}`), MaxAttempts: 2})
	}
	want := "" // of the job before
	for _, id := range []string{"a", "b", "c", ""} {
		token, n := l.next(last)
		if n.Completed != want {
			t.Errorf("before %q: %q, not %q", id, n.Completed, want)
		}
		if id == "" {
			if n.Answer != store.IntentNone || n.Job.JobID != "" {
				t.Errorf("at the end: %+v", n)
			}
			break
		}
		if n.Answer != store.IntentBegin || n.Job.JobID != id || n.Job.EffectKey != "key of "+id || string(n.Job.Payload) != `{"id": "`+id+`"}` || n.Job.Attempt != 1 || n.Job.MaxAttempts != 2 {
			t.Fatalf("%s: %+v", id, n)
		}
		l.job(id, "running", 1, store.VerdictMayHaveHappened)
		last, want = &store.Completion{JobID: id, Token: token, ReceiptID: "r-" + id, Result: json.RawMessage(`{"of": "` + id + `"}`)}, "done"
	}
	plain := l.take("plain", true)
	l.complete("plain", plain, "r-plain")
	record := func(id string) string {
		return l.get(`SELECT concat_ws(' ', j.state, j.version, j.attempt, j.lock_token IS NULL, j.worker, j.effect_at IS NOT NULL, a.outcome, a.to_state, a.records_intent, a.claimed_from,
				a.effect_at = j.effect_at, a.effect_at >= a.claimed_at, a.heartbeat_at >= a.claimed_at, a.finished_at >= a.effect_at, r.attempt, r.recorded_by,
				(SELECT count(*) FROM jobtop.attempts x WHERE x.job_id = j.id), (SELECT count(*) FROM jobtop.actions x WHERE x.job_id = j.id))
			FROM jobtop.jobs j JOIN jobtop.attempts a ON a.job_id = j.id JOIN jobtop.receipts r ON r.job_id = j.id WHERE j.id = $1`, id)
	}
	for _, id := range []string{"a", "b", "c"} {
		if got, want := record(id), record("plain"); got != want || got == "" {
			t.Errorf("%s:\n%s\nnot\n%s", id, got, want)
		}
		l.is("r-"+id+` {"of": "`+id+`"}`, `SELECT receipt_id || ' ' || result FROM jobtop.receipts WHERE job_id = $1`, id)
	}
}

// TestBeginNextIsAllOrNothing: what the server refuses of one half is done of neither, and
// the receipt can still be recorded.
func TestBeginNextIsAllOrNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	token := l.take("last", true)
	l.enqueue(store.NewJob{ID: "job"})
	before := l.everything()
	good := store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"charge"}}
	nobody, sameToken := good, good
	nobody.Worker = ""
	sameToken.Token = token
	last := store.Completion{JobID: "last", Token: token, ReceiptID: "r"}
	badResult := last
	badResult.Result = json.RawMessage(`{"a`)
	for name, c := range map[string]struct {
		request store.ClaimRequest
		last    store.Completion
		code    string
	}{
		"a claim for nobody":    {nobody, last, "22023"},
		"the last job's token":  {sameToken, last, "22023"},
		"a result that is none": {good, badResult, "22P02"},
	} {
		_, err := l.db.BeginNext(ctx, c.request, &c.last)
		var p *store.Problem
		if !errors.As(err, &p) || p.Code != c.code {
			t.Errorf("%s: %v", name, err)
		}
		if after := l.everything(); after != before {
			t.Errorf("%s changed the record from\n%s\nto\n%s", name, before, after)
		}
	}
	if answer := l.complete("last", token, "r"); answer != "done" {
		t.Error(answer)
	}
}

// TestBeginNextOutlivesACrash: the server is killed right after begin_next has answered a
// session that had synchronous_commit off. Both halves stand.
func TestBeginNextOutlivesACrash(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := sandboxtest.Server(t, sandbox.Options{Settings: map[string]string{"synchronous_commit": "off", "wal_writer_delay": "10s"}})
	if _, err := store.ApplySchema(ctx, server.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	for _, withLast := range []bool{true, false} {
		l := openLedger(t, server.URL("postgres"))
		var last *store.Completion
		if withLast {
			last = &store.Completion{JobID: "last", Token: l.take("last", true), ReceiptID: "r"}
		}
		id := fmt.Sprintf("job, last %v", withLast)
		l.enqueue(store.NewJob{ID: id})
		token, n := l.next(last)
		if n.Job.JobID != id {
			t.Fatalf("begun: %+v", n)
		}
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(ctx); err != nil {
			t.Fatal(err)
		}
		l = openLedger(t, server.URL("postgres"))
		l.job(id, "running", 1, store.VerdictMayHaveHappened)
		l.is(token, `SELECT lock_token FROM jobtop.jobs WHERE id = $1`, id)
		l.job("last", "done", 1, store.VerdictHappened)
	}
}

// TestBeginNextRaces: workers that go from job to job through begin_next, each call sent
// twice at once, as after a lost answer: no job twice, none lost.
func TestBeginNextRaces(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	const jobs, workers = 200, 4
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1::int) n`, jobs)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			var last *store.Completion
			for {
				request := store.ClaimRequest{Worker: "w", Token: newToken(), Kinds: []string{"charge"}}
				var answers [2]store.Next
				var errs [2]error
				var both sync.WaitGroup
				for i := range answers {
					both.Go(func() { answers[i], errs[i] = l.db.BeginNext(context.Background(), request, last) })
				}
				both.Wait()
				if err := errors.Join(errs[:]...); err != nil {
					t.Errorf("begin_next: %v", err)
					return
				}
				a, b := answers[0], answers[1]
				if a.Job.JobID != b.Job.JobID || a.Completed != b.Completed || last != nil && a.Completed != "done" {
					t.Errorf("one call answered %+v, its repetition %+v", a, b)
					return
				}
				if a.Answer == store.IntentNone {
					return
				}
				last = &store.Completion{JobID: a.Job.JobID, Token: request.Token, ReceiptID: "r-" + a.Job.JobID}
			}
		})
	}
	running.Wait()
	l.is(fmt.Sprintf("%d %d %d", jobs, jobs, jobs), `SELECT concat_ws(' ', (SELECT count(*) FROM jobtop.jobs WHERE state = 'done' AND attempt = 1),
		(SELECT count(*) FROM jobtop.attempts WHERE outcome = 'done' AND effect_at IS NOT NULL), (SELECT count(*) FROM jobtop.receipts))`)
}

// TestBeginNextUnderAnyIsolation: whatever the session's transactions are by default, the
// claim inside is one of READ COMMITTED, and the session is as it was.
func TestBeginNextUnderAnyIsolation(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	conn := l.session()
	for _, level := range []string{"repeatable read", "serializable"} {
		l.enqueue(store.NewJob{ID: level})
		if _, err := conn.Exec(ctx, `SELECT set_config('default_transaction_isolation', $1, false)`, level); err != nil {
			t.Fatal(err)
		}
		var answer, id, now string
		if err := conn.QueryRow(ctx, `CALL jobtop.begin_next('w', $1::text::uuid, '{charge}')`, newToken()).
			Scan(nil, &answer, &id, nil, nil, nil, nil, nil, nil); err != nil || answer != store.IntentBegin || id != level {
			t.Errorf("%s: %s %s, %v", level, answer, id, err)
		}
		if err := conn.QueryRow(ctx, `SHOW transaction_isolation`).Scan(&now); err != nil || now != level {
			t.Errorf("afterwards %s, %v", now, err)
		}
		l.job(level, "running", 1, store.VerdictMayHaveHappened)
	}
}

// TestClaimThatBeginsNothing: a job that the next attempt takes without an intent of its
// own does not carry the intent of the last one.
func TestClaimThatBeginsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	l.enqueue(store.NewJob{ID: "job"})
	token, _ := l.next(nil)
	if answer := l.fail("job", token, store.EffectRefused, true); answer != "failed" {
		t.Fatal(answer)
	}
	l.exec(`UPDATE jobtop.jobs SET run_at = clock_timestamp()`)
	l.claim(1)
	l.job("job", "running", 2, store.VerdictDidNotHappen)
	l.is("", `SELECT effect_at FROM jobtop.jobs WHERE id = 'job'`)
}
