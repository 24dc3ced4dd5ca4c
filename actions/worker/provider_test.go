package worker_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/google/uuid"

	"jobtop/actions/worker"
)

func newID() string { return uuid.NewString() }

// provider honours idempotency keys: a key that it has seen gets the same receipt, and
// causes nothing again. It runs over HTTP, so that killed processes can call it.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	effects map[string]int // by key: always 1
	calls   map[string]int
}

func newProvider(t *testing.T) *provider {
	p := &provider{effects: map[string]int{}, calls: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.FormValue("key")
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls[key]++
		if p.effects[key] == 0 {
			p.effects[key] = 1
		}
		fmt.Fprintf(w, "receipt of %s", key)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) seen(key string) (calls, effects int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[key], p.effects[key]
}

// charge calls a provider.
func charge(ctx context.Context, provider, key string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, provider+"/?key="+url.QueryEscape(key), nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	receipt, err := io.ReadAll(response.Body)
	return string(receipt), err
}

// handler is the ordinary handler: intent, effect, receipt.
func (p *provider) handler(ctx context.Context, job *worker.Job) (worker.Receipt, error) {
	key, err := job.Begin(ctx)
	if err != nil {
		return worker.Receipt{}, err
	}
	receipt, err := charge(ctx, p.URL, key)
	return worker.Receipt{ID: receipt, Result: raw(map[string]int{"attempt": job.Attempt})}, err
}
