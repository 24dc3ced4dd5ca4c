package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// The bounds of an overview. Beyond them figures are samples and say so.
const (
	// RateWindow is how far back the rates look.
	RateWindow = 5 * time.Minute
	// ThroughputMinutes is how many whole minutes of throughput are told.
	ThroughputMinutes = 30

	edgeSample     = 5_000 // attempts or actions, newest first
	minuteSample   = 1_000 // receipts of each minute
	durationSample = 2_000 // attempts, newest first, whose kind is looked up
	overviewKinds  = 200
	latestReceipts = 10
)

// Overview is what happened lately and where: dearer than a Poll, and so for a slower
// beat. Its cost is bounded however much happens.
type Overview struct {
	Rates []Rate // edges taken in the window; those not named were not taken
	Kinds []KindFigures
	// Done counts the receipts of each of the last ThroughputMinutes whole minutes, the
	// oldest first; those with DoneSampled are told from a sample.
	Done        []int64
	DoneSampled []bool
	Receipts    []Receipt
	Health      Health
	ServerCost  time.Duration
}

// Rate is how often an edge was taken: Count times within Span. Sampled when Span is
// shorter than RateWindow because so much happened.
type Rate struct {
	From, To string
	Count    int64
	Span     time.Duration
	Sampled  bool
}

// PerMinute is the rate in times a minute.
func (r Rate) PerMinute() float64 {
	if r.Span <= 0 {
		return 0
	}
	return float64(r.Count) / r.Span.Minutes()
}

// KindFigures is a line of the overview's table of kinds.
type KindFigures struct {
	Kind string
	Due  Count
	// OldestDue is nil where nothing is due.
	OldestDue                     *time.Duration
	Running, Failed, Review, Dead Count
	// Ended and Done count attempts within Span: all that ended, and those that ended
	// as done. Median and P95 are of the done ones' durations, nil without any.
	Ended, Done int64
	Median, P95 *time.Duration
	Span        time.Duration
	Sampled     bool
}

// DonePerMinute is how many jobs of the kind workers finish a minute.
func (k KindFigures) DonePerMinute() float64 {
	return Rate{Count: k.Done, Span: k.Span}.PerMinute()
}

// Health is what the database says about itself.
type Health struct {
	// OldestTransaction is nil where none is open that this role may see.
	OldestTransaction *time.Duration
	LockWaiters       int64
	// DeadShare is the share of dead rows in jobs, from 0 to 1; nil while unknown.
	DeadShare *float64
	// Lag of this replica, or of the slowest replica of this primary; nil without one.
	Lag *time.Duration
	// Whole is false when this role sees only its own sessions.
	Whole bool
}

// Overview reads what happened lately, in one round trip.
func (db *DB) Overview(ctx context.Context) (Overview, error) {
	var o Overview
	recent := pgx.NamedArgs{"window": RateWindow.Microseconds(), "sample": edgeSample}
	cost, err := db.read(ctx, "look at what happened lately",
		statement{sql: query("overview_workers"), arguments: recent, rows: each(o.scanRate)},
		statement{sql: query("overview_operators"), arguments: recent, rows: each(o.scanRate)},
		statement{sql: query("overview_done"), arguments: pgx.NamedArgs{"minutes": ThroughputMinutes, "sample": minuteSample}, rows: each(o.scanDone)},
		statement{sql: query("overview_kinds"), arguments: pgx.NamedArgs{"window": RateWindow.Microseconds(), "sample": durationSample, "bound": CountBound, "kinds": overviewKinds}, rows: each(o.scanKind)},
		statement{sql: query("receipts"), arguments: pgx.NamedArgs{"limit": latestReceipts}, rows: collect(&o.Receipts, scanReceipt)},
		statement{sql: query("health"), rows: one(o.Health.scan)},
	)
	if err != nil {
		return Overview{}, err
	}
	o.ServerCost = cost
	return o, nil
}

// scanRate adds a row to the rates; an edge that both a worker and an operator took is one.
func (o *Overview) scanRate(row pgx.Rows) error {
	var r Rate
	var span int64
	if err := row.Scan(&r.From, &r.To, &r.Count, &span, &r.Sampled); err != nil {
		return err
	}
	r.Span = *micros(&span)
	for i, other := range o.Rates {
		if other.From == r.From && other.To == r.To {
			o.Rates[i].Count += int64(float64(r.Count) * float64(other.Span) / float64(r.Span))
			o.Rates[i].Sampled = other.Sampled || r.Sampled
			return nil
		}
	}
	o.Rates = append(o.Rates, r)
	return nil
}

func (o *Overview) scanDone(row pgx.Rows) error {
	var n int64
	var sampled bool
	if err := row.Scan(&n, &sampled); err != nil {
		return err
	}
	o.Done, o.DoneSampled = append(o.Done, n), append(o.DoneSampled, sampled)
	return nil
}

func (o *Overview) scanKind(row pgx.Rows) error {
	var k KindFigures
	var due, running, failed, review, dead, span int64
	var oldest, median, p95 *int64
	var full []string // states of which not every job was counted
	if err := row.Scan(&k.Kind, &due, &oldest, &running, &failed, &review, &dead, &k.Ended, &k.Done, &median, &p95, &span, &k.Sampled, &full); err != nil {
		return err
	}
	k.Due, k.OldestDue = counted(due), micros(oldest)
	part := func(n int64, state string) Count {
		for _, f := range full {
			if f == state {
				return Count{N: n, Precision: Capped}
			}
		}
		return Count{N: n, Precision: Exact}
	}
	k.Running, k.Failed, k.Review, k.Dead = part(running, "running"), part(failed, "failed"), part(review, "review"), part(dead, "dead")
	k.Median, k.P95, k.Span = micros(median), micros(p95), *micros(&span)
	o.Kinds = append(o.Kinds, k)
	return nil
}

func (h *Health) scan(row pgx.Rows) error {
	var oldest, lag *int64
	if err := row.Scan(&oldest, &h.LockWaiters, &h.DeadShare, &lag, &h.Whole); err != nil {
		return err
	}
	h.OldestTransaction, h.Lag = micros(oldest), micros(lag)
	return nil
}
