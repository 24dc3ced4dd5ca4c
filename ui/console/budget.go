package console

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"jobtop/ui/text"
)

// budget keeps what all reading costs the server within its share of one core: over every
// minute, and whoever asked for it. It knows the reads that come again and again, each by
// its beat, and counts everything else that was read against them.
//
// The share belongs to all consoles on the database together.
type budget struct {
	share    float64 // of one core, for all consoles; defaultShare if zero
	consoles int
	reserved float64       // the part of it that the beats leave to what has none
	before   time.Duration // the reader's ServerTime when it was last charged
	window   []spending    // that still counts
	beats    map[string]*beat
}

// spending counts against the share until a minute has gone by, or longer where it alone
// was more than a minute's share.
type spending struct {
	at, until time.Time
	cost      time.Duration
}

// beat is a read that comes again and again.
type beat struct {
	want  time.Duration    // how often it is wanted
	costs [2]time.Duration // of the last read and the one before
	n     int              // reads so far
}

const (
	// defaultShare is how much of one core of the server all reading may take.
	defaultShare = 0.01
	budgetWindow = time.Minute
	// mostWait is the longest wait, even where a read costs more than its share of that.
	mostWait = 5 * time.Minute
)

// charge notes what was read since it was last called, from the growth of the reader's
// ServerTime.
func (b *budget) charge(now time.Time, spent time.Duration) {
	if cost := spent - b.before; cost > 0 {
		lasts := min(max(budgetWindow, time.Duration(float64(cost)/b.own())), mostWait)
		b.window = append(b.window, spending{now, now.Add(lasts), cost})
	}
	b.before = spent
	b.window = slices.DeleteFunc(b.window, func(s spending) bool { return !now.Before(s.until) })
}

// read notes what a read with a beat cost, which is wanted as often as want says. It has
// been charged already.
func (b *budget) read(name string, want, cost time.Duration) {
	if b.beats == nil {
		b.beats = map[string]*beat{}
	}
	r := b.beats[name]
	if r == nil {
		r = &beat{}
		b.beats[name] = r
	}
	r.want, r.costs[1], r.costs[0] = want, r.costs[0], cost
	r.n++
}

// usual is what a read costs: a single dear one, such as the first on a cold server, does
// not count for the pace.
func (r *beat) usual() time.Duration {
	switch r.n {
	case 0, 1:
		return 0
	}
	return min(r.costs[0], r.costs[1])
}

func (r *beat) load() float64 { return float64(r.usual()) / float64(max(r.want, 1)) }

func (b *budget) total() float64 { return cmp.Or(b.share, defaultShare) }

// own is the part of the share that this console has.
func (b *budget) own() float64 { return b.total() / float64(max(1, b.consoles)) }

// every is how often a read may come, at most as often as it is wanted. Those that need
// less than their equal part leave the rest to the dearer ones, which come less often.
func (b *budget) every(name string, want time.Duration) time.Duration {
	r := b.beats[name]
	if r == nil {
		return want
	}
	r.want = want
	list := make([]*beat, 0, len(b.beats))
	for _, other := range b.beats {
		list = append(list, other)
	}
	slices.SortFunc(list, func(x, y *beat) int {
		switch {
		case x.load() < y.load():
			return -1
		case x.load() > y.load():
			return 1
		}
		return 0
	})
	left := b.own() * (1 - b.reserved)
	for i, other := range list {
		part := min(other.load(), left/float64(len(list)-i))
		if other == r && part < r.load() {
			return min(stepUp(time.Duration(float64(r.usual())/part)), max(mostWait, want))
		}
		left -= part
	}
	return want
}

// room is how long it takes until reads fit into the minute before them, should they cost
// what they last cost. What no minute has room for gets one to itself.
func (b *budget) room(now time.Time, names ...string) time.Duration {
	var total time.Duration
	for _, name := range names {
		if r := b.beats[name]; r != nil {
			total += r.costs[0]
		}
	}
	allowance := time.Duration(b.own() * float64(budgetWindow))
	counts := make([]spending, 0, len(b.window))
	for _, s := range b.window {
		if now.Before(s.until) {
			counts = append(counts, s)
			total += s.cost
		}
	}
	slices.SortFunc(counts, func(x, y spending) int { return x.until.Compare(y.until) })
	wait := time.Duration(0)
	for _, s := range counts {
		if total <= allowance {
			break
		}
		total -= s.cost
		wait = s.until.Sub(now)
	}
	return wait
}

// free is how much may be read now, beside those with a beat should they come too.
func (b *budget) free(now time.Time, names ...string) time.Duration {
	left := time.Duration(b.own() * float64(budgetWindow))
	for _, name := range names {
		if r := b.beats[name]; r != nil {
			left -= r.costs[0]
		}
	}
	for _, s := range b.window {
		if now.Before(s.until) {
			left -= s.cost
		}
	}
	return max(left, 0)
}

// leftover is the part of the share that the beats leave, and at least what is reserved.
func (b *budget) leftover() float64 {
	left := b.own()
	for name, r := range b.beats {
		left -= float64(r.usual()) / float64(max(b.every(name, r.want), 1))
	}
	return max(left, b.own()*b.reserved)
}

// why says why a read comes more seldom than it is wanted.
func (b *budget) why(name, what string, every time.Duration) string {
	why := "every " + seconds(every)
	if r := b.beats[name]; r != nil && r.n > 0 {
		cost := r.usual()
		if perShare := time.Duration(float64(cost) / b.own()); perShare <= r.want {
			cost = r.costs[0] // it is not the pace that keeps it, but the last one
		}
		why += ": " + what + " costs " + text.Duration(roundCost(cost))
	}
	why += " and the budget is " + text.Percent(b.total()) + " of one core"
	if b.consoles > 1 {
		why += " for " + text.Count(int64(b.consoles)) + " consoles"
	}
	return why
}

// seconds writes a wait.
func seconds(d time.Duration) string {
	if d < 10*time.Second && d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return text.Duration(d)
}

// roundCost keeps two digits.
func roundCost(d time.Duration) time.Duration {
	unit := time.Millisecond
	for unit*100 <= d {
		unit *= 10
	}
	return max(d.Round(unit), time.Millisecond)
}

// stepUp rounds a wait up, so that it seldom changes.
func stepUp(d time.Duration) time.Duration {
	for _, seconds := range []int{1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 240, 300} {
		if step := time.Duration(seconds) * time.Second; d <= step {
			return step
		}
	}
	return d.Round(time.Minute)
}
