package console

import "time"

// budget keeps what all reading costs the server within its share, over every minute.
type budget struct {
	before time.Duration // the reader's ServerTime at the last look
	looks  []spending    // of the last window, oldest first
}

type spending struct {
	at   time.Time
	cost time.Duration
}

const (
	// share is how much of one core of the server all reading may take.
	share        = 0.01
	budgetWindow = time.Minute
)

// pause is how long to wait before the next look, at least least: dear looks come less
// often. A single dear one, such as the first on a cold server, does not count for the
// pace, as long as the window has room for it.
func (b *budget) pause(now time.Time, spent, least time.Duration) time.Duration {
	cost := spent - b.before
	b.before = spent
	b.looks = append(b.looks, spending{now, cost})
	for now.Sub(b.looks[0].at) >= budgetWindow {
		b.looks = b.looks[1:]
	}
	wait := least
	if n := len(b.looks); n > 1 {
		usual := min(cost, b.looks[n-2].cost)
		wait = max(wait, perShare(usual))
	}

	// The next look, should it cost as much again, has to fit into its window.
	allowance := time.Duration(share * float64(budgetWindow))
	total := cost
	for i := len(b.looks) - 1; i >= 0; i-- {
		if total += b.looks[i].cost; total > allowance {
			wait = max(wait, budgetWindow-now.Sub(b.looks[i].at))
			break
		}
	}
	return min(wait, max(budgetWindow, least))
}

func perShare(cost time.Duration) time.Duration { return time.Duration(float64(cost) / share) }
