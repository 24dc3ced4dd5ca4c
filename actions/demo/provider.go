package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Effect is something that the provider did, once for its key.
type Effect struct {
	ReceiptID string
	At        time.Time // by the provider's own clock
}

// Patience of the provider: how long it takes over a slow answer, and how long it says
// nothing before it hangs up.
const (
	slowness = 2500 * time.Millisecond
	silence  = 20 * time.Second
)

// Provider is a made-up payment provider on loopback HTTP.
//
// POST /effects with an Idempotency-Key acts once for that key and answers with the
// receipt; whether it does, and whether the answer arrives, is up to the scenario.
// GET /effects/KEY tells what it knows about a key. It keeps everything in memory.
type Provider struct {
	scenario Scenario
	slowness time.Duration
	silence  time.Duration

	mu      sync.Mutex
	effects map[string]Effect
	tries   map[string]int
	last    map[string]string // receipt ID by kind
	next    map[string]int    // receipt number by kind

	server *http.Server
	url    string
}

// StartProvider begins to serve on a free port, until Stop. known are effects from before, by key;
// next are the numbers of the next receipt of each kind.
func StartProvider(ctx context.Context, s Scenario, known map[string]Effect, next map[string]int) (*Provider, error) {
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the provider finds no port: %w", err)
	}
	p := newProvider(s, known, next)
	p.url = "http://" + listener.Addr().String()
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = p.server.Serve(listener) }() // ends with Stop; a broken listener shows as timeouts, as it would in life
	return p, nil
}

func newProvider(s Scenario, known map[string]Effect, next map[string]int) *Provider {
	p := &Provider{
		scenario: s, slowness: slowness, silence: silence,
		effects: make(map[string]Effect, len(known)), tries: map[string]int{}, last: map[string]string{}, next: map[string]int{},
	}
	for key, effect := range known {
		p.effects[key] = effect
	}
	for kind, number := range next {
		p.next[kind] = number
	}
	return p
}

// URL is where the provider listens.
func (p *Provider) URL() string { return p.url }

// Stop hangs up on everybody.
func (p *Provider) Stop() error { return p.server.Close() }

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, isEffect := strings.CutPrefix(r.URL.Path, "/effects/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/effects":
		p.act(w, r)
	case r.Method == http.MethodGet && isEffect:
		p.tell(w, key)
	default:
		reply(w, http.StatusNotFound, refusal{"not found", "POST /effects, or GET /effects/KEY"})
	}
}

// refusal is the body of an answer that says that nothing was done.
type refusal struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// What the provider says of a key.
const (
	statusHappened = "happened"
	statusUnknown  = "unknown"
)

// report is the body of an answer about a key.
type report struct {
	Status    string `json:"status"`
	Key       string `json:"key"`
	ReceiptID string `json:"receipt_id,omitempty"`
	At        string `json:"at,omitempty"`
}

func (p *Provider) act(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	kind, number, ok := parseID(key)
	if !ok {
		reply(w, http.StatusBadRequest, refusal{"bad key", "an Idempotency-Key such as charge-10442 is needed"})
		return
	}
	p.mu.Lock()
	p.tries[key]++
	temper := p.scenario.Temper(kind, number, p.tries[key])
	_, before := p.effects[key]
	p.mu.Unlock()

	if !before {
		switch temper {
		case Declined:
			reply(w, http.StatusPaymentRequired, refusal{"declined", "insufficient funds"})
			return
		case Busy:
			w.Header().Set("Retry-After", "5")
			reply(w, http.StatusServiceUnavailable, refusal{"busy", "over capacity, nothing was done"})
			return
		case Silence:
			wait(r.Context(), p.silence)
			panic(http.ErrAbortHandler) // hangs up
		case Slow:
			wait(context.WithoutCancel(r.Context()), p.slowness) // and acts, whether or not anybody still listens
		default: // it acts at once
		}
	}
	effect := p.happen(kind, key, temper == Doubled)
	if temper == LostAnswer && !before {
		panic(http.ErrAbortHandler)
	}
	reply(w, http.StatusOK, report{statusHappened, key, effect.ReceiptID, effect.At.UTC().Format(time.RFC3339)})
}

// happen acts, unless it has done so before for the key.
func (p *Provider) happen(kind Kind, key string, doubled bool) Effect {
	p.mu.Lock()
	defer p.mu.Unlock()
	if effect, ok := p.effects[key]; ok {
		return effect
	}
	effect := Effect{At: time.Now()}
	if doubled && p.last[kind.Name] != "" {
		effect.ReceiptID = p.last[kind.Name]
	} else {
		effect.ReceiptID = fmt.Sprintf("%s_%d", kind.Receipt, p.next[kind.Name])
		p.next[kind.Name]++
	}
	p.last[kind.Name] = effect.ReceiptID
	p.effects[key] = effect
	return effect
}

func (p *Provider) tell(w http.ResponseWriter, key string) {
	p.mu.Lock()
	effect, ok := p.effects[key]
	p.mu.Unlock()
	if !ok {
		reply(w, http.StatusOK, report{Status: statusUnknown, Key: key})
		return
	}
	reply(w, http.StatusOK, report{statusHappened, key, effect.ReceiptID, effect.At.UTC().Format(time.RFC3339)})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// wait waits for the duration, or until ctx ends; then it answers false.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
