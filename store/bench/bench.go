// Package bench makes tables of given sizes and shapes and measures on them what jobtop
// does, beside what it is to be compared with, in one run: round by round, so that
// whatever else the machine does falls on all alike.
//
// It makes databases of its own, in a sandbox or beside a database whose name says that
// it is for that, and drops them when it ends. It writes to no database that it did not
// make.
package bench

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// Options say what to measure, and where.
type Options struct {
	// DSN is a database beside which the tables are made; its name must contain
	// Marker, and the role be a superuser's. Empty: a sandbox.
	DSN string
	// Jobs is the size of the large table, in done jobs; 1,000,000 if zero.
	Jobs int64
	// Shapes are what to make and measure; all of Shapes if empty.
	Shapes []Shape
	// Rounds is how often everything is measured; 15 if zero.
	Rounds int
	// Churn is how long jobs go through, and again under an old snapshot; a minute if zero.
	Churn time.Duration
	// Hold carries out one act on each of some pending jobs, in the way in which the
	// console does it in bulk.
	Hold func(ctx context.Context, db *store.DB, jobs []store.Job) error
	// Screens measures what the console costs its terminal, on the large table.
	Screens func(ctx context.Context, dsn string) ([]ScreenFigure, error)
	// Console runs a console on a table until ctx is done, as eager as it can be made.
	Console func(ctx context.Context, dsn string) error
	// Progress is told what is being done; it may be nil.
	Progress func(doing string)
}

// Marker is what the name of a database must contain for bench to work beside it.
const Marker = "jobtop_bench"

// Shape is a kind of table, and what is measured on it.
type Shape string

// The shapes.
const (
	Done     Shape = "done"     // ever more done jobs beside the same open ones
	Pending  Shape = "pending"  // a million waiting
	Stuck    Shape = "stuck"    // a hundred thousand past their limit
	Attempts Shape = "attempts" // one job with 10,000 attempts
	Churn    Shape = "churn"    // jobs going through, also under an old snapshot
)

// Shapes are all of them.
func Shapes() []Shape { return []Shape{Done, Pending, Stuck, Attempts, Churn} }

func (o *Options) complete() {
	if o.Jobs == 0 {
		o.Jobs = 1_000_000
	}
	if len(o.Shapes) == 0 {
		o.Shapes = Shapes()
	}
	if o.Rounds == 0 {
		o.Rounds = 15
	}
	if o.Churn == 0 {
		o.Churn = time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
}

// Run makes the tables, measures and clears away. The Report is of what was measured
// until an error, if any.
func Run(ctx context.Context, o Options) (r Report, err error) {
	o.complete()
	started := time.Now()
	r = Report{Machine: thisMachine(), Jobs: o.Jobs, Rounds: o.Rounds}
	p, err := findPlace(ctx, o)
	if err != nil {
		return r, err
	}
	defer func() {
		o.Progress("clearing away")
		if closeErr := p.close(); err == nil {
			err = closeErr
		}
		r.Took = time.Since(started)
	}()
	if r.Server, err = p.describe(ctx); err != nil {
		return r, err
	}
	b := &bench{Options: o, place: p, report: &r, tables: map[string]*table{}}
	return r, b.run(ctx)
}

// bench is one run.
type bench struct {
	Options
	place  *place
	report *Report
	tables map[string]*table
	all    []*measurement
	conns  []*pgx.Conn // of measurements
}

func (b *bench) wants(shapes ...Shape) bool {
	for _, wanted := range shapes {
		for _, s := range b.Shapes {
			if s == wanted {
				return true
			}
		}
	}
	return false
}

func (b *bench) run(ctx context.Context) error {
	defer b.disconnect(context.WithoutCancel(ctx))
	sizes := b.sizes()
	for _, size := range sizes {
		t, err := b.fill(ctx, size)
		if err != nil {
			return err
		}
		b.report.Tables = append(b.report.Tables, t.Table)
	}
	if err := b.plan(ctx, sizes); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if t := b.tables[large]; t != nil && b.Screens != nil && b.wants(Done) {
		b.Progress("measuring the console in a terminal")
		var err error
		if b.report.Screens, err = b.Screens(ctx, t.dsn); err != nil {
			return err
		}
	}
	if b.wants(Churn) {
		if err := b.churn(ctx); err != nil {
			return err
		}
	}
	b.judge()
	return b.share(ctx)
}

func (b *bench) disconnect(ctx context.Context) {
	for _, conn := range b.conns {
		_ = conn.Close(ctx)
	}
	for _, t := range b.tables {
		t.db.Close()
	}
}
