package worker_test

import (
	"io"
	"net"
	"net/url"
	"sync/atomic"
)

// proxy stands between a worker and its database and loses answers.
type proxy struct {
	listener net.Listener
	server   string
	// lose decides about each piece of an answer: to swallow it and cut the connection.
	lose func() bool
	// mute swallows all answers and leaves the connections open.
	mute atomic.Bool
}

// newProxy returns a proxy and the URL that leads through it.
func newProxy(dsn string, lose func() bool) (*proxy, string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	p := &proxy{listener: listener, server: u.Host, lose: lose}
	u.Host = listener.Addr().String()
	go p.serve()
	return p, u.String(), nil
}

// proxied is a proxy for a test, and the URL that leads through it.
func (r *record) proxied(lose func() bool) (*proxy, string) {
	r.t.Helper()
	p, url, err := newProxy(r.url, lose)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(p.close)
	return p, url
}

func (p *proxy) close() { _ = p.listener.Close() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.join(client)
	}
}

func (p *proxy) join(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		switch {
		case p.mute.Load():
			continue
		case p.lose != nil && p.lose():
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
