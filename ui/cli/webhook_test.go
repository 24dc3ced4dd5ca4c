package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// hook is a receiver of alerts.
type hook struct {
	mu       sync.Mutex
	statuses []int // of the answers to come; the last stays
	bodies   []string
}

// hookSlot keeps a script's last receiver.
type hookSlot struct{ hook *hook }

type hookKey struct{}

// webhook NAME STATUS...: starts a receiver that gives these answers one after the
// other ("hang": none at all), and sets NAME to its URL.
func webhook(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) < 2 {
		ts.Fatalf("usage: webhook NAME status...")
	}
	h := &hook{}
	for _, s := range arguments[1:] {
		n, err := strconv.Atoi(s)
		if err != nil {
			n = 0 // hang
		}
		h.statuses = append(h.statuses, n)
	}
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.bodies = append(h.bodies, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body))
		code := h.statuses[0]
		if len(h.statuses) > 1 {
			h.statuses = h.statuses[1:]
		}
		h.mu.Unlock()
		if code == 0 {
			<-stop
			return
		}
		w.WriteHeader(code)
	}))
	ts.Defer(func() {
		close(stop)
		server.Close()
	})
	ts.Value(hookKey{}).(*hookSlot).hook = h
	ts.Setenv(arguments[0], server.URL+"/s3cret")
}

// webhook-got N: the last receiver got N alerts; the last of them is on standard output.
func webhookGot(ts *testscript.TestScript, neg bool, arguments []string) {
	if neg || len(arguments) != 1 {
		ts.Fatalf("usage: webhook-got N")
	}
	want, err := strconv.Atoi(arguments[0])
	ts.Check(err)
	h := ts.Value(hookKey{}).(*hookSlot).hook
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.bodies) != want {
		ts.Fatalf("%d alerts, want %d: %q", len(h.bodies), want, h.bodies)
	}
	if want > 0 {
		fmt.Fprintln(ts.Stdout(), h.bodies[want-1])
	}
}
