package faultproxy

import (
	"strings"
	"sync"
)

// Fault is what becomes of one request and its answer.
type Fault int

// The faults. A cut closes both connections of a link, the client's and the server's.
const (
	// Pass: nothing.
	Pass Fault = iota
	// DropBefore cuts before the server sees any of the request.
	DropBefore
	// HalfSent cuts when the server has seen half of the request.
	HalfSent
	// ForwardThenCut lets the server carry the request out, and cuts instead of answering.
	ForwardThenCut
	// CutAnswer cuts in the middle of the answer, before the word that COMMIT succeeded.
	CutAnswer
	// HoldRequest keeps the request until it is released or cut: a black hole. A client
	// that is gone by then makes no difference.
	HoldRequest
	// HoldAnswer lets the server carry the request out, and keeps the answer until it is
	// released or cut.
	HoldAnswer
	// Late cuts the client at once, and gives the request to the server when it is released.
	Late
)

// Request is what a client sends between two moments at which it has to wait: one simple
// query, or extended messages up to a Sync.
type Request struct {
	Link int      // the number of the connection
	SQL  []string // the texts of the queries in it
}

// Has reports whether a query of the request contains a text.
func (r Request) Has(text string) bool {
	for _, sql := range r.SQL {
		if strings.Contains(sql, text) {
			return true
		}
	}
	return false
}

// Holding matches requests that contain a text.
func Holding(text string) func(Request) bool {
	return func(r Request) bool { return r.Has(text) }
}

// Strike is one fault, from when it is ordered until it is over.
type Strike struct {
	proxy *Proxy
	match func(Request) bool
	fault Fault

	reached, released, cut, over chan struct{}
	once                         [4]sync.Once
}

func newStrike(p *Proxy, match func(Request) bool, f Fault) *Strike {
	return &Strike{proxy: p, match: match, fault: f,
		reached: make(chan struct{}), released: make(chan struct{}), cut: make(chan struct{}), over: make(chan struct{})}
}

// Reached is closed when the fault has struck: the request is held or cut, or the
// server is through with it and its answer is held or cut.
func (s *Strike) Reached() <-chan struct{} { return s.reached }

// Over is closed when nothing more will come of it; of a Late request, when the server
// has answered it or is gone.
func (s *Strike) Over() <-chan struct{} { return s.over }

// Release lets what is held go on, now or as soon as it is held.
func (s *Strike) Release() { s.once[0].Do(func() { close(s.released) }) }

// Cut throws away what is held, and cuts.
func (s *Strike) Cut() { s.once[1].Do(func() { close(s.cut) }) }

// Withdraw takes the order back, and reports whether it had not struck yet.
func (s *Strike) Withdraw() bool {
	if !s.proxy.withdraw(s) {
		return false
	}
	s.end()
	return true
}

func (s *Strike) reach() {
	if s != nil {
		s.once[2].Do(func() { close(s.reached) })
	}
}

func (s *Strike) end() {
	if s != nil {
		s.once[3].Do(func() { close(s.over) })
	}
}

// goesOn waits, and reports whether what is held goes on.
func (s *Strike) goesOn() bool {
	select {
	case <-s.released:
		return true
	case <-s.cut:
	case <-s.proxy.closed:
	}
	return false
}

func (s *Strike) kind() Fault {
	if s == nil {
		return Pass
	}
	return s.fault
}
