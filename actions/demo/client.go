package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// ProviderEnv names the environment variable with the provider's URL for lookups.
const ProviderEnv = "JOBTOP_DEMO_PROVIDER"

// callTimeout is how long a worker waits for the provider.
const callTimeout = 4 * time.Second

// client calls the provider.
type client struct{ url string }

// RefusedError says that the provider definitely did nothing.
type RefusedError struct {
	Status   int
	Category string
	Message  string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the provider refused with status %d: %s", e.Status, e.Message)
}

// Final reports whether another try would be refused as well.
func (e *RefusedError) Final() bool { return e.Status != http.StatusServiceUnavailable }

// act asks for the effect and returns its receipt ID. A RefusedError says that it did
// not happen; after any other error it may have.
func (c client) act(ctx context.Context, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/effects", http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Idempotency-Key", key)
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return "", err
	}
	if response.StatusCode != http.StatusOK {
		var why refusal
		if err := json.Unmarshal(body, &why); err != nil {
			return "", fmt.Errorf("an answer with status %d that cannot be read: %w", response.StatusCode, err)
		}
		return "", &RefusedError{Status: response.StatusCode, Category: why.Error, Message: why.Message}
	}
	var told report
	if err := json.Unmarshal(body, &told); err != nil {
		return "", fmt.Errorf("an answer that cannot be read: %w", err)
	}
	return told.ReceiptID, nil
}

// LookUp asks the provider at that URL what it knows about an effect key. The answer is
// JSON: status (happened or unknown), key, and once it happened receipt_id and at.
func LookUp(ctx context.Context, provider, key string) (json.RawMessage, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, provider+"/effects/"+url.PathEscape(key), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("the provider's URL in %s cannot be read", ProviderEnv)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the demo's provider does not answer; it ends with its demo: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || !json.Valid(body) {
		return nil, errors.New("the demo's provider gave no answer that can be read")
	}
	return body, nil
}

// transport makes a connection of its own for each call: over a kept one, net/http would
// repeat a call with an idempotency key whose answer was lost.
var transport = &http.Transport{DisableKeepAlives: true}
