package faultproxy

import (
	"bufio"
	"context"
	"io"
	"net"
	"slices"
	"sync"
)

// link is one client's connection and the one to the server that belongs to it.
type link struct {
	proxy  *Proxy
	number int
	client net.Conn
	done   chan struct{} // closed when it is cut
	once   sync.Once

	mu         sync.Mutex
	server     net.Conn
	started    bool        // the server has said that it is ready
	collecting bool        // a request is on its way in, or held
	asked      []*exchange // what the server has still to answer
	clientGone bool
	serverGone bool
}

// exchange is a request that was given to the server.
type exchange struct {
	strike *Strike
	held   []byte
}

// cut closes both connections.
func (l *link) cut() {
	l.once.Do(func() {
		close(l.done)
		_ = l.client.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.server != nil {
			_ = l.server.Close()
		}
	})
}

func (l *link) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.started && !l.collecting && len(l.asked) == 0
}

func (l *link) run() {
	defer l.cut()
	if !l.proxy.passes(l) {
		return
	}
	first, code, err := l.startup()
	if err != nil {
		return
	}
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.proxy.server)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	l.mu.Lock()
	l.server = server
	l.mu.Unlock()
	select {
	case <-l.done: // cut before it had a server to cut
		return
	default:
	}
	if !l.proxy.passes(l) {
		return
	}
	if _, err := server.Write(first); err != nil {
		return
	}
	if code == cancelRequest {
		_, _ = io.Copy(l.client, server)
		return
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		l.fromServer(bufio.NewReader(server))
		l.cut()
	}()
	l.fromClient(bufio.NewReader(l.client))
	l.leave()
	<-answered
}

// startup reads up to the message that is for the server, and refuses encryption.
func (l *link) startup() ([]byte, uint32, error) {
	for {
		message, code, err := readStartup(l.client)
		if err != nil || code != sslRequest && code != gssRequest {
			return message, code, err
		}
		if _, err := l.client.Write([]byte("N")); err != nil {
			return nil, 0, err
		}
	}
}

// fromClient gathers requests and gives them on.
func (l *link) fromClient(r io.Reader) {
	var request []byte
	var sql []string
	for {
		message, err := readMessage(r)
		if err != nil {
			return
		}
		request = append(request, message...)
		switch message[0] {
		case 'P', 'B', 'D', 'E', 'C':
			if message[0] == 'P' {
				sql = append(sql, queryText(message))
			}
			l.gathering(true)
		case 'Q', 'S', 'F': // each has one answer that ends in ReadyForQuery
			if message[0] == 'Q' {
				sql = append(sql, queryText(message))
			}
			l.gathering(true)
			goesOn := l.proxy.passes(l) && l.ask(request, l.proxy.strikeFor(Request{Link: l.number, SQL: sql}))
			l.gathering(false)
			if !goesOn {
				return
			}
			request, sql = nil, nil
		default: // passwords, copied data, Flush, Terminate
			if !l.proxy.passes(l) {
				return
			}
			if _, err := l.server.Write(request); err != nil {
				return
			}
			request = nil
		}
	}
}

// ask gives a request to the server, as its strike will have it, and reports whether
// the client can go on.
func (l *link) ask(request []byte, s *Strike) bool {
	switch s.kind() {
	case DropBefore, HalfSent:
		if s.kind() == HalfSent {
			_, _ = l.server.Write(request[:len(request)/2])
		}
		l.cut()
		s.reach()
		s.end()
		return false
	case Late:
		_ = l.client.Close()
		fallthrough
	case HoldRequest:
		s.reach()
		if !s.goesOn() {
			l.cut()
			s.end()
			return false
		}
	default: // what is to come befalls the answer
	}
	l.mu.Lock()
	if l.serverGone {
		l.mu.Unlock()
		s.end()
		return false
	}
	l.asked = append(l.asked, &exchange{strike: s})
	l.mu.Unlock()
	_, err := l.server.Write(request)
	return err == nil
}

// leave: the client is gone. What the server was given it may answer, to nobody.
func (l *link) leave() {
	l.mu.Lock()
	l.clientGone = true
	over := len(l.asked) == 0
	l.mu.Unlock()
	if over {
		l.cut()
	}
}

// fromServer gives answers on, as their strikes will have it.
func (l *link) fromServer(r io.Reader) {
	defer l.forget()
	for {
		message, err := readMessage(r)
		e := l.answering()
		if e == nil {
			if err != nil || !l.proxy.passes(l) {
				return
			}
			_, _ = l.client.Write(message)
			if message[0] == 'Z' {
				l.ready()
			}
			continue
		}
		last := err != nil || message[0] == 'Z'
		switch e.strike.kind() {
		case ForwardThenCut, Late:
			if last {
				e.strike.reach()
				return
			}
		case CutAnswer:
			if last || committed(message) {
				l.cut()
				e.strike.reach()
				return
			}
			_, _ = l.client.Write(message)
		case HoldAnswer:
			e.held = append(e.held, message...)
			if last {
				e.strike.reach()
				if !e.strike.goesOn() {
					return
				}
				_, _ = l.client.Write(e.held)
			}
		default:
			if err == nil && l.proxy.passes(l) {
				_, _ = l.client.Write(message)
			}
		}
		if err != nil || last && l.answered() {
			return
		}
	}
}

// answered takes the first request as answered, and reports whether that was the last
// one of a client that is gone.
func (l *link) answered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[0].strike.end()
	l.asked = slices.Delete(l.asked, 0, 1)
	return l.clientGone && len(l.asked) == 0
}

// forget: the server will answer nothing more.
func (l *link) forget() {
	l.cut()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serverGone = true
	for _, e := range l.asked {
		e.strike.reach()
		e.strike.end()
	}
	l.asked = nil
}

func (l *link) answering() *exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) == 0 {
		return nil
	}
	return l.asked[0]
}

func (l *link) ready() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
}

func (l *link) gathering(now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.collecting = now
}
