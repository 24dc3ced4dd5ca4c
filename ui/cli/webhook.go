package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// webhook is where alerts are posted. Its URL is a secret: of it only the host is told.
type webhook struct {
	url     string
	timeout time.Duration // of one try
	wait    time.Duration // before the second try; doubled before the next; 1 s if zero
}

const (
	webhookTries = 3
	webhookEnv   = "JOBTOP_WEBHOOK"
)

// check makes sure that the URL can be one.
func (w *webhook) check() error {
	if w.url == "" {
		return nil
	}
	if w.url == "-" {
		if w.url = os.Getenv(webhookEnv); w.url == "" {
			return usagef("--webhook - takes the URL from %s, which is not set", webhookEnv)
		}
	}
	u, err := url.Parse(w.url)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return usagef("the webhook is no URL that begins with https:// or http://")
	case w.timeout <= 0:
		return usagef("--webhook-timeout is not above zero")
	}
	return nil
}

// alertJSON is what is posted. "text" is what chat services show.
type alertJSON struct {
	Text     string      `json:"text"`
	Status   string      `json:"status"` // ok, warning, critical, unknown
	ExitCode int         `json:"exit_status"`
	Database *string     `json:"database"` // null: it could not be asked
	Host     *string     `json:"host"`
	Checks   []checkFact `json:"checks"`
	From     string      `json:"from"` // the machine that looked
}

func newAlertJSON(r checkResult) alertJSON {
	a := alertJSON{
		Text: "JOBTOP " + checkWords[r.status] + ": " + r.what, Status: strings.ToLower(checkWords[r.status]), ExitCode: r.status,
		Checks: r.facts, From: hostname(),
	}
	if a.Checks == nil {
		a.Checks = []checkFact{}
	}
	if r.server.Database != "" {
		a.Database, a.Host = &r.server.Database, &r.server.Host
	}
	return a
}

// post delivers an alert, in at most three tries. What the receiver says is final gets
// no second one.
func (w *webhook) post(ctx context.Context, alert alertJSON) error {
	body, err := marshal(alert)
	if err != nil {
		return err
	}
	wait := w.wait
	if wait == 0 {
		wait = time.Second
	}
	for try := 1; ; try++ {
		again, err := w.try(ctx, body)
		if err == nil {
			return nil
		}
		if !again || try == webhookTries {
			tries := "1 try"
			if try > 1 {
				tries = fmt.Sprintf("%d tries", try)
			}
			return fmt.Errorf("the alert could not be delivered to %s: %w (%s)", w.host(), err, tries)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait + rand.N(wait/2)):
		}
		wait *= 2
	}
}

// try posts once, and says whether another try makes sense.
func (w *webhook) try(ctx context.Context, body []byte) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the URL cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "jobtop")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		// The library's error holds the URL.
		if ctx.Err() != nil {
			return true, errors.New("no answer in time")
		}
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return true, err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	switch code := response.StatusCode; {
	case code >= 200 && code < 300:
		return false, nil
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return true, errors.New("it answered " + response.Status)
	default:
		return false, errors.New("it answered " + response.Status)
	}
}

func (w *webhook) host() string {
	u, err := url.Parse(w.url)
	if err != nil {
		return "the webhook"
	}
	return u.Host
}
