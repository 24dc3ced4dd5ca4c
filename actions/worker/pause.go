package worker

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause is a wait that doubles from min to max, of which the second half is left to
// chance, so that workers that were held up together do not come back together.
type pause struct {
	min, max time.Duration
	next     time.Duration
}

// wait waits; false when ctx was done first.
func (p *pause) wait(ctx context.Context) bool {
	p.next = min(max(p.next*2, p.min), p.max)
	return sleep(ctx.Done(), p.next/2+rand.N(p.next/2+1))
}

func (p *pause) reset() { p.next = 0 }

// sleep waits; false when done was closed first.
func sleep(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
		return true
	}
}
