package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// transport is what the library's requests go through. It asks before the first one, ends them with the
// context and when nothing comes for too long, tells of the progress, and remembers why one failed.
type transport struct {
	ctx      context.Context
	client   *http.Client
	options  Options
	idle     *time.Timer // ends the context when it is not set back in time
	patience time.Duration
	asked    bool
	failure  error
}

func newTransport(ctx context.Context, stop context.CancelCauseFunc, o Options) *transport {
	t := &transport{ctx: ctx, client: &http.Client{Transport: http.DefaultTransport}, options: o, patience: o.Patience}
	if t.patience == 0 {
		t.patience = 30 * time.Second
	}
	t.idle = time.AfterFunc(t.patience, func() { stop(fmt.Errorf("the repository sent nothing for %s", t.patience)) })
	return t
}

// RoundTrip answers with what is there after any redirects, and with an error unless that is 200 OK: so a
// repository must serve the checksum too, without which the library would go on unchecked.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.confirm(r.URL); err != nil {
		return nil, t.failed(err)
	}
	answer, err := t.do(http.MethodGet, r.URL)
	if err != nil {
		return nil, t.failed(err)
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, t.failed(fmt.Errorf("%s: %s", r.URL, answer.Status))
	}
	b := &body{ReadCloser: answer.Body, transport: t, total: answer.ContentLength}
	if strings.HasSuffix(r.URL.Path, ".jar") {
		b.progress = t.options.Progress
	}
	answer.Body = b
	return answer, nil
}

// confirm asks whether to fetch, once.
func (t *transport) confirm(u *url.URL) error {
	if t.asked || t.options.Confirm == nil {
		return nil
	}
	t.asked = true
	answer, err := t.do(http.MethodHead, u)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	size := answer.ContentLength
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		size = -1
	default:
		return fmt.Errorf("%s: %s", u, answer.Status)
	}
	t.idle.Stop() // a person may take longer
	if !t.options.Confirm(size) {
		return ErrDeclined
	}
	return nil
}

func (t *transport) do(method string, u *url.URL) (*http.Response, error) {
	request, err := http.NewRequestWithContext(t.ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	t.idle.Reset(t.patience)
	answer, err := t.client.Do(request)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return nil, fmt.Errorf("%s does not answer: %w", u.Host, wrapped.Err)
	}
	return answer, err
}

// failed remembers the first failure.
func (t *transport) failed(err error) error {
	if t.failure == nil {
		t.failure = err
	}
	return err
}

// body is that of an answer.
type body struct {
	io.ReadCloser
	transport   *transport
	progress    func(done, total int64)
	done, total int64
}

func (b *body) Read(p []byte) (int, error) {
	b.transport.idle.Reset(b.transport.patience)
	n, err := b.ReadCloser.Read(p)
	b.done += int64(n)
	if b.progress != nil {
		b.progress(b.done, b.total)
	}
	if err != nil {
		b.transport.idle.Stop()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		_ = b.transport.failed(fmt.Errorf("the download was cut off after %d bytes: %w", b.done, err))
	}
	return n, err
}

// Close returns no error, for which the library would end the process.
func (b *body) Close() error {
	b.transport.idle.Stop()
	_ = b.ReadCloser.Close()
	return nil
}
