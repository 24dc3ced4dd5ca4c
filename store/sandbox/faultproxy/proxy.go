// Package faultproxy stands between clients and a PostgreSQL server, for tests. It
// follows the protocol's messages, so that it can spoil a request at an exact point:
// before the server sees it, after the server has committed it and before the client
// hears, or long after the client has given up.
//
// It listens on the loopback address only and passes no encryption.
package faultproxy

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"
)

// Proxy is a proxy before one server. Its methods may be called concurrently.
type Proxy struct {
	listener net.Listener
	server   string
	closed   chan struct{}
	running  sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]bool
	numbered int
	strikes  []*Strike // ordered, and not yet met
	standing func(Request) Fault
	hole     chan struct{} // closed when it ends; nil while there is none
	isClosed bool
}

// New returns a proxy before the server that a connection string in URL form names, and
// the connection string that leads through it.
func New(dsn string) (*Proxy, string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, "", err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	p := &Proxy{listener: listener, server: u.Host, closed: make(chan struct{}), links: map[*link]bool{}}
	u.Host = listener.Addr().String()
	p.running.Add(1)
	go p.serve()
	return p, u.String(), nil
}

// Close cuts everything, what is held included, and waits until it is gone.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.isClosed {
		p.isClosed = true
		close(p.closed)
		_ = p.listener.Close()
		for _, s := range p.strikes {
			s.end()
		}
		for l := range p.links {
			l.cut()
		}
	}
	p.mu.Unlock()
	p.running.Wait()
}

// Next orders a fault for the next request that matches, once. Several orders are met
// in their order.
func (p *Proxy) Next(match func(Request) bool, f Fault) *Strike {
	s := newStrike(p, match, f)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strikes = append(p.strikes, s)
	return s
}

// Standing is asked about every request that no order of Next is for; nil for none. It
// cannot hold anything.
func (p *Proxy) Standing(decide func(Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.standing = decide
}

// BlackHole makes the proxy accept everything and pass nothing on, either way, until
// the returned function is called.
func (p *Proxy) BlackHole() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hole := make(chan struct{})
	p.hole = hole
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(hole)
		if p.hole == hole {
			p.hole = nil
		}
	})
}

// CutIdle cuts the connections on which nothing is under way, and says how many.
func (p *Proxy) CutIdle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for l := range p.links {
		if l.idle() {
			l.cut()
			n++
		}
	}
	return n
}

func (p *Proxy) withdraw(s *Strike) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.strikes, s)
	if i < 0 {
		return false
	}
	p.strikes = slices.Delete(p.strikes, i, i+1)
	return true
}

// strikeFor finds the fault for a request; nil for none.
func (p *Proxy) strikeFor(r Request) *Strike {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.strikes {
		if s.match(r) {
			p.strikes = slices.Delete(p.strikes, i, i+1)
			return s
		}
	}
	if p.standing == nil {
		return nil
	}
	s := newStrike(p, nil, p.standing(r))
	s.Release()
	return s
}

// passes waits for the end of a black hole, and reports whether to go on.
func (p *Proxy) passes(l *link) bool {
	for {
		p.mu.Lock()
		hole := p.hole
		p.mu.Unlock()
		if hole == nil {
			return true
		}
		select {
		case <-hole:
		case <-l.done:
			return false
		case <-p.closed:
			return false
		}
	}
}

func (p *Proxy) serve() {
	defer p.running.Done()
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		if p.isClosed {
			p.mu.Unlock()
			_ = client.Close()
			return
		}
		p.numbered++
		l := &link{proxy: p, number: p.numbered, client: client, done: make(chan struct{})}
		p.links[l] = true
		p.running.Add(1)
		p.mu.Unlock()
		go func() {
			defer p.running.Done()
			l.run()
			p.mu.Lock()
			delete(p.links, l)
			p.mu.Unlock()
		}()
	}
}
