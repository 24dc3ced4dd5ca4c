package bench

import (
	"context"
	"errors"
	"time"
)

// shareOver is how long a console is watched, and shareWindow over which time its share
// of the server is told.
const (
	shareOver   = 75 * time.Second
	shareWindow = time.Minute
)

// share runs a console on the least friendly table, as eager as it can be made, and holds
// the processor's time that its server processes use against its share.
func (b *bench) share(ctx context.Context) error {
	t := b.tables[stalled]
	if t == nil || b.Console == nil || !b.place.local {
		return nil
	}
	b.Progress("watching a console for more than a minute")
	t.db.Close() // so that every process that is left is the console's
	for _, conn := range b.conns {
		_ = conn.Close(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, shareOver)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.Console(ctx, t.dsn) }()

	type sample struct {
		at   time.Time
		used time.Duration
	}
	var samples []sample
	var most time.Duration
	used := map[int]time.Duration{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
			b.report.Goals = append(b.report.Goals, Goal{What: "processor time of the console's reads in any minute, of one core", Unit: "%",
				Value: 100 * most.Seconds() / shareWindow.Seconds(), Bound: 1.1, Met: most <= shareWindow*11/1000})
			return nil
		case <-tick.C:
		}
		for _, pid := range b.place.backends(ctx, t) {
			if now := ProcessorTime(pid); now > 0 {
				used[pid] = now
			}
		}
		s := sample{at: time.Now()}
		for _, u := range used {
			s.used += u
		}
		samples = append(samples, s)
		for _, before := range samples {
			if s.at.Sub(before.at) <= shareWindow {
				most = max(most, s.used-before.used)
				break
			}
		}
		if s.at.Sub(samples[0].at) <= shareWindow {
			most = max(most, s.used) // also what came before the first sample
		}
	}
}
