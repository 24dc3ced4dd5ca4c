package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The bounds of a poll, in rows. Beyond them a figure is capped or estimated.
const (
	// CountBound: no state is counted further.
	CountBound = 10_000
	// RunningBound: so many running jobs are looked at for their heartbeats, those
	// claimed longest ago first.
	RunningBound = CountBound
	// newestClaims are looked at besides, for the newest heartbeat of all.
	newestClaims = 500
	// kindsBound: due jobs are counted for so many kinds.
	kindsBound = 1_000
)

// Poll looks at the whole system, in one round trip whose cost is bounded however many
// jobs there are.
func (db *DB) Poll(ctx context.Context) (Poll, error) {
	var p Poll
	open := map[string]StateCount{}
	var done doneFigures
	started := time.Now()
	cost, err := db.read(ctx, "look at the jobs",
		statement{sql: query("poll_states"), arguments: pgx.NamedArgs{"bound": CountBound}, rows: each(func(row pgx.Rows) error {
			s, oldest := StateCount{}, (*int64)(nil)
			if err := row.Scan(&s.State, &s.Count.N, &oldest); err != nil {
				return err
			}
			s.Count, s.OldestAge = counted(s.Count.N), micros(oldest)
			open[s.State] = s
			return nil
		})},
		statement{sql: query("poll_done"), arguments: pgx.NamedArgs{"bound": CountBound}, rows: one(done.scan)},
		statement{sql: query("poll_due"), arguments: pgx.NamedArgs{"bound": CountBound, "kinds": kindsBound}, rows: one(p.scanDue)},
		statement{sql: query("poll_running"), arguments: pgx.NamedArgs{"bound": RunningBound, "newest": newestClaims}, rows: one(func(row pgx.Rows) error {
			running, err := p.scanRunning(row)
			open["running"] = running
			return err
		})},
		statement{sql: query("poll_paused"), rows: each(p.scanPaused)},
		statement{sql: query("poll_consoles"), rows: one(func(row pgx.Rows) error { return row.Scan(&p.Consoles) })},
		statement{sql: query("clock"), rows: one(func(row pgx.Rows) error { return row.Scan(&p.At) })},
	)
	if err != nil {
		return Poll{}, err
	}
	for _, state := range []string{"pending", "running", "failed", "review"} {
		p.States = append(p.States, open[state])
	}
	p.States = append(p.States, StateCount{State: "done", Count: done.count(open), OldestAge: done.oldest}, open["dead"])
	p.ServerCost, p.RoundTrip = cost, time.Since(started)
	return p, nil
}

// State is the line of one state.
func (p *Poll) State(state string) StateCount {
	for _, s := range p.States {
		if s.State == state {
			return s
		}
	}
	return StateCount{State: state, Count: Count{Precision: Exact}}
}

// HeartbeatsStopped reports whether several workers hold jobs and no worker at all was
// heard of for longer than the least of the jobs' limits, neither by a heartbeat nor by the
// end of an attempt: what is wrong is hardly with one job or worker, but with the database
// or the network.
func (p *Poll) HeartbeatsStopped() bool {
	silent := func(age *time.Duration) bool { return age == nil || *age > *p.SmallestTimeout }
	return p.SeveralWorkers && p.NewestHeartbeat != nil && p.SmallestTimeout != nil && silent(p.NewestHeartbeat) && silent(p.NewestEnd)
}

// counted labels a count that stopped one row beyond CountBound.
func counted(n int64) Count {
	if n > CountBound {
		return Count{N: CountBound, Precision: Capped}
	}
	return Count{N: n, Precision: Exact}
}

func (p *Poll) scanDue(row pgx.Rows) error {
	var kinds, due int64
	var oldest *int64
	if err := row.Scan(&kinds, &due, &oldest); err != nil {
		return err
	}
	p.Due, p.OldestDue = counted(due), micros(oldest)
	if kinds > kindsBound {
		p.Due.Precision = Capped
	}
	return nil
}

func (p *Poll) scanRunning(row pgx.Rows) (StateCount, error) {
	var running int64
	var oldest, worst, heartbeat, timeout, end *int64
	if err := row.Scan(&running, &oldest, &p.Stuck.N, &worst, &heartbeat, &timeout, &p.SeveralWorkers, &end); err != nil {
		return StateCount{}, err
	}
	p.Stuck.Precision = Exact
	if running > RunningBound {
		p.Stuck.Precision = Capped
	}
	p.Stuck.N = min(p.Stuck.N, RunningBound)
	p.OldestStuck, p.NewestHeartbeat, p.SmallestTimeout, p.NewestEnd = micros(worst), micros(heartbeat), micros(timeout), micros(end)
	return StateCount{State: "running", Count: counted(running), OldestAge: micros(oldest)}, nil
}

func (p *Poll) scanPaused(row pgx.Rows) error {
	var k Paused
	var since int64
	var ends *int64
	if err := row.Scan(&k.Kind, &k.By, &k.Reason, &since, &ends); err != nil {
		return err
	}
	k.SinceAge, k.EndsIn = *micros(&since), micros(ends)
	p.Paused = append(p.Paused, k)
	return nil
}

// doneFigures is what is known about the number of done jobs.
type doneFigures struct {
	counted *int64 // no further than one beyond CountBound; nil when not tried
	jobs    int64  // the planner's idea of all jobs, -1 while it has none
	open    int64  // and of the open ones
	oldest  *time.Duration
}

func (d *doneFigures) scan(row pgx.Rows) error {
	var oldest *int64
	if err := row.Scan(&d.counted, &d.jobs, &d.open, &oldest); err != nil {
		return err
	}
	d.oldest = micros(oldest)
	return nil
}

// count is exact where the receipts could be counted, else all jobs less the open ones.
func (d *doneFigures) count(states map[string]StateCount) Count {
	if d.counted != nil && *d.counted <= CountBound {
		return Count{N: *d.counted, Precision: Exact}
	}
	var open int64
	capped := false
	for _, s := range states {
		open += s.Count.N
		capped = capped || s.Count.Precision != Exact
	}
	if capped {
		open = max(open, d.open)
	}
	estimate := d.jobs - open
	if d.counted != nil && estimate <= CountBound {
		// The statistics lag behind what was counted.
		return Count{N: CountBound, Precision: Capped}
	}
	return Count{N: max(estimate, 0), Precision: Estimated}
}
