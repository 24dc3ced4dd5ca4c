package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// kindWith is a kind whose first tries have the tempers, in this order.
func kindWith(t *testing.T, tempers ...Temper) Scenario {
	t.Helper()
	before := Kinds
	t.Cleanup(func() { Kinds = before })
	Kinds = []Kind{{Name: "test.run", Prefix: "test", Receipt: "te", Opening: tempers}}
	return Scenario{Seed: 1, First: map[string]int{"test.run": 0}}
}

func startTestProvider(t *testing.T, s Scenario) (*Provider, client) {
	t.Helper()
	p := newProvider(s, map[string]Effect{"test-900": {ReceiptID: "te_900", At: time.Now().Add(-time.Hour)}}, map[string]int{"test.run": 1})
	p.slowness, p.silence = 50*time.Millisecond, 100*time.Millisecond
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return p, client{server.URL}
}

// known is what a lookup says of a key: the receipt ID, or the status without one.
func known(t *testing.T, c client, key string) string {
	t.Helper()
	text, err := LookUp(t.Context(), c.url, key)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if (r.Status == statusHappened) != (r.ReceiptID != "") || r.Key != key {
		t.Fatalf("a lookup says %s", text)
	}
	if r.ReceiptID != "" {
		return r.ReceiptID
	}
	return r.Status
}

func TestProvider(t *testing.T) {
	tempers := []Temper{Fine, Slow, Busy, Declined, LostAnswer, Silence, Doubled, BadInput}
	_, c := startTestProvider(t, kindWith(t, tempers...))
	for number, want := range []struct {
		receipt, known string
		refused, final bool // else, without a receipt, it cannot be told
		again          string
	}{
		{receipt: "te_1", known: "te_1", again: "te_1"},
		{receipt: "te_2", known: "te_2", again: "te_2"},
		{refused: true, known: "unknown", again: "te_3"},
		{refused: true, final: true, known: "unknown", again: "te_4"},
		{known: "te_5", again: "te_5"},
		{known: "unknown", again: "te_6"},
		{receipt: "te_6", known: "te_6", again: "te_6"},
		{receipt: "te_7", known: "te_7", again: "te_7"},
	} {
		key := fmt.Sprintf("test-%d", number)
		receipt, err := c.act(t.Context(), key)
		var refused *RefusedError
		isRefused := errors.As(err, &refused)
		if receipt != want.receipt || isRefused != want.refused || (err == nil) != (receipt != "") || isRefused && refused.Final() != want.final {
			t.Errorf("%s: got %q, %v", tempers[number], receipt, err)
		}
		if got := known(t, c, key); got != want.known {
			t.Errorf("%s: then a lookup says %s, want %s", tempers[number], got, want.known)
		}
		if receipt, err := c.act(t.Context(), key); receipt != want.again || err != nil {
			t.Errorf("%s: a second call brings %q, %v, want %s", tempers[number], receipt, err, want.again)
		}
	}
	if got, err := c.act(t.Context(), "test-900"); got != "te_900" || err != nil {
		t.Errorf("a key of the past brings %q, %v", got, err)
	}
	if got, err := c.act(t.Context(), "nonsense"); err == nil {
		t.Errorf("a key of no kind brings %q", got)
	}
}

// TestSameKeyAtOnce: calls with one key that cross bring one receipt.
func TestSameKeyAtOnce(t *testing.T) {
	_, c := startTestProvider(t, kindWith(t, Slow))
	var calls sync.WaitGroup
	receipts := make([]string, 20)
	for i := range receipts {
		calls.Go(func() { receipts[i], _ = c.act(t.Context(), "test-0") })
	}
	calls.Wait()
	for i, receipt := range receipts {
		if receipt != "te_1" {
			t.Errorf("call %d brings %q", i, receipt)
		}
	}
}

// TestClientGone: a slow provider acts although nobody waits any more.
func TestClientGone(t *testing.T) {
	p, _ := startTestProvider(t, kindWith(t, Slow))
	p.slowness = time.Second
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cancel() // it has arrived, and whoever sent it goes
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c := client{server.URL}
	if got, err := c.act(ctx, "test-0"); err == nil {
		t.Fatalf("got %q, and was gone", got)
	}
	deadline := time.Now().Add(time.Minute)
	for known(t, c, "test-0") != "te_1" {
		if time.Now().After(deadline) {
			t.Fatal("it never happened")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func TestStop(t *testing.T) {
	p, err := StartProvider(t.Context(), Scenario{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := known(t, client{p.URL()}, "charge-1"); got != "unknown" {
		t.Errorf("got %s", got)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := LookUp(t.Context(), p.URL(), "charge-1"); err == nil {
		t.Error("it still answers")
	}
}

// TestShares: kinds add up, and what goes wrong is not most of it.
func TestShares(t *testing.T) {
	t.Parallel()
	var all float64
	for _, k := range Kinds {
		all += k.Share
		var wrong float64
		for _, o := range k.Odds {
			wrong += o.Chance
		}
		if wrong > 0.3 {
			t.Errorf("%s goes wrong in %g of all cases", k.Name, wrong)
		}
	}
	if all < 0.999 || all > 1.001 {
		t.Errorf("the shares add up to %g", all)
	}
}

// TestTemper: one seed gives always the same, in about the proportions that the odds say.
func TestTemper(t *testing.T) {
	t.Parallel()
	k := kindNamed("card.charge")
	a, b := Scenario{Seed: 7, First: map[string]int{k.Name: 1}}, Scenario{Seed: 7, First: map[string]int{k.Name: 1}}
	count := map[Temper]int{}
	const n = 20_000
	for number := 1000; number < 1000+n; number++ {
		temper := a.Temper(k, number, 1)
		if temper != b.Temper(k, number, 1) {
			t.Fatalf("number %d differs", number)
		}
		count[temper]++
	}
	for _, o := range k.Odds {
		if got := float64(count[o.Temper]) / n; got < o.Chance*0.7 || got > o.Chance*1.3 {
			t.Errorf("%s comes in %g of all cases, want about %g", o.Temper, got, o.Chance)
		}
	}
	for i, want := range k.Opening {
		if got := a.Temper(k, 1+i, 1); got != want {
			t.Errorf("live job %d is %s, want %s", i, got, want)
		}
	}
}
