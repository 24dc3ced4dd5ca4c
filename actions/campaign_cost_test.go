package actions

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"jobtop/store"
	"jobtop/store/sandbox/faultproxy"
)

// An act costs one round trip and one commit, journal, evidence and record included; one
// whose answer was lost costs a settle, and a look at who answered.
func TestActCostsOneRoundTripAndOneCommit(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	proxy, url, err := faultproxy.New(l.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	db, err := store.Open(context.Background(), store.Options{DSN: url, MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	r := l.runner("alice")
	r.DB = db
	id, _ := l.bring(Review, false)
	l.must(r, l.order(VerbRequeue, id), Applied) // the first one also asks which database it is

	var mu sync.Mutex
	var asked [][]string
	proxy.Standing(func(r faultproxy.Request) faultproxy.Fault {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.SQL)
		return faultproxy.Pass
	})
	l.must(r, l.order(VerbDead, id), Applied)
	commits := func(request []string) int {
		n := 0
		for _, sql := range request {
			if strings.HasPrefix(sql, "COMMIT") {
				n++
			}
		}
		return n
	}
	if len(asked) != 1 || commits(asked[0]) != 1 || !slices.ContainsFunc(asked[0], func(sql string) bool { return strings.Contains(sql, "jobtop.act(") }) {
		t.Errorf("an act asked %d times: %q", len(asked), asked)
	}

	asked = nil
	proxy.Next(anAct, faultproxy.ForwardThenCut)
	l.must(r, l.order(VerbRequeue, id), Applied)
	if len(asked) != 2 || commits(asked[0]) != 1 {
		t.Errorf("to settle it asked %d times: %q", len(asked), asked)
	}
}
