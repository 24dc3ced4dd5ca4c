package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"jobtop/store"
)

// TestOneBadRowNeverBlocksTheRest: batches with a row of every bad kind between good ones.
func TestOneBadRowNeverBlocksTheRest(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.complete("holder", l.take("holder", true), "taken")
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(0, 9) n`)
	token, _ := l.claim(10)
	l.stop("job-1")

	var ids []string
	for n := range 10 {
		ids = append(ids, fmt.Sprintf("job-%d", n))
	}
	intents, err := l.db.BeginEffects(ctx, append([]string{"unknown"}, ids...), token)
	if err != nil || len(intents) != 11 {
		t.Fatal(intents, err)
	}
	for i, intent := range intents {
		want := store.IntentBegin
		switch i {
		case 0:
			want = store.IntentNotFound
		case 2:
			want = store.IntentLeaseLost
		}
		if intent.Answer != want {
			t.Errorf("intent %d is %s, not %s", i, intent.Answer, want)
		}
	}

	bad := map[int]store.Completion{
		2: {ReceiptID: "taken"},
		3: {ReceiptID: ""},
		4: {ReceiptID: strings.Repeat("r", 201)},
		5: {ReceiptID: "r\x00\xff"},
		6: {ReceiptID: "r6", Result: json.RawMessage(`{not JSON`)},
		7: {ReceiptID: "r7", Result: json.RawMessage(`"\u0000"`)},
	}
	want := []string{"done", "lease_lost", "review", "receipt_invalid", "receipt_invalid", "receipt_invalid", "error", "error", "done", "done"}
	var batch []store.Completion
	for n, id := range ids {
		c, ok := bad[n]
		if !ok {
			c.ReceiptID, c.Result = "r"+id, json.RawMessage(`{}`)
		}
		c.JobID, c.Token = id, token
		batch = append(batch, c)
	}
	for _, reversed := range []bool{false, true} { // repeated, and in another order
		answers, err := l.db.CompleteAll(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range answers {
			if a.Err != nil {
				a.Answer = "error"
			}
			got = append(got, a.Answer)
		}
		if reversed {
			reverse(got)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the batch answered\n%q, not\n%q", got, want)
		}
		reverse(batch)
	}

	beats, err := l.db.Heartbeats(ctx, []store.Beat{{JobID: "job-9", Token: token}, {JobID: "job-3", Token: token}, {JobID: "unknown", Token: token}})
	if want := []store.Answer[bool]{{}, {Answer: true}, {}}; err != nil || !reflect.DeepEqual(beats, want) {
		t.Errorf("the heartbeats answered %+v, %v", beats, err)
	}
}

func reverse[T any](s []T) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}

// TestALockedRowDelaysNoOtherHeartbeat: somebody at a psql prompt holds a job's row. Its
// own heartbeat waits and gives up; the others are written.
func TestALockedRowDelaysNoOtherHeartbeat(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	l.enqueue(store.NewJob{ID: "a"}, store.NewJob{ID: "b"}, store.NewJob{ID: "c"})
	token, _ := l.claim(3)
	holder := l.session()
	if _, err := holder.Exec(ctx, "BEGIN; SELECT FROM jobtop.jobs WHERE id = 'b' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	before := l.get(`SELECT string_agg(heartbeat_at::text, ' ' ORDER BY id) FROM jobtop.jobs WHERE id IN ('a', 'c')`)
	answers, err := l.db.Heartbeats(ctx, []store.Beat{{JobID: "a", Token: token}, {JobID: "b", Token: token}, {JobID: "c", Token: token}})
	if err != nil || !answers[0].Answer || !answers[2].Answer || answers[1].Err == nil {
		t.Fatalf("the heartbeats answered %+v, %v", answers, err)
	}
	if after := l.get(`SELECT string_agg(heartbeat_at::text, ' ' ORDER BY id) FROM jobtop.jobs WHERE id IN ('a', 'c')`); after == before {
		t.Error("the other heartbeats were not written")
	}
}

// TestBatchesInAnyOrderDoNotDeadlock: batches that share jobs and receipts, in any order
// and at once, all come through.
func TestBatchesInAnyOrderDoNotDeadlock(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	ctx := context.Background()
	const n = 40
	l.exec(`SELECT jobtop.enqueue(format('job-%s', n), 'charge') FROM generate_series(1, $1::int) n`, n)
	token, ids := l.claim(n)
	var calls sync.WaitGroup
	for range 8 {
		var beats []store.Beat
		var completions []store.Completion
		for _, id := range strings.Fields(ids) {
			beats = append(beats, store.Beat{JobID: id, Token: token})
			completions = append(completions, store.Completion{JobID: id, Token: token, ReceiptID: "r" + id})
		}
		rand.Shuffle(n, func(i, j int) { beats[i], beats[j] = beats[j], beats[i] })
		rand.Shuffle(n, func(i, j int) { completions[i], completions[j] = completions[j], completions[i] })
		calls.Go(func() {
			answers, err := l.db.Heartbeats(ctx, beats)
			if err != nil {
				t.Error(err)
			}
			for _, a := range answers {
				if a.Err != nil {
					t.Error(a.Err)
				}
			}
			done, err := l.db.CompleteAll(ctx, completions)
			if err != nil {
				t.Error(err)
			}
			for _, a := range done {
				if a.Err != nil || a.Answer != "done" {
					t.Error(a)
				}
			}
		})
	}
	calls.Wait()
	l.is(fmt.Sprint(n), `SELECT count(*) FROM jobtop.receipts`)
	l.is("0", `SELECT count(*) FROM jobtop.late_reports`)
}
