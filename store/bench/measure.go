package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// measurement is one thing that is timed round by round.
type measurement struct {
	what   string
	table  *table
	clock  Clock
	rounds int // at most so many; 0: all
	// run does it and returns how long it took, once or several times.
	run   func(ctx context.Context) ([]time.Duration, error)
	note  string
	parts int             // of each duration, for the processor's time; 0: one
	taken []time.Duration // by the clock
	used  []time.Duration // of the processor
}

// measure goes round by round, so that a disturbance falls on what is compared alike. The
// first round only warms up.
func (b *bench) measure(ctx context.Context) error {
	for round := range b.Rounds + 1 {
		if round == 0 {
			b.Progress("warming up")
		} else {
			b.Progress(fmt.Sprintf("measuring, round %d of %d", round, b.Rounds))
		}
		for _, m := range b.all {
			if m.rounds > 0 && round > m.rounds {
				continue
			}
			pids := b.place.backends(ctx, m.table)
			before := ProcessorTime(pids...)
			taken, err := m.run(ctx)
			if round == 0 && errors.Is(err, store.ErrTimeout) {
				continue // nothing of the table was in memory yet
			}
			if err != nil {
				return fmt.Errorf("%s (%s): %w", m.what, m.table.Name, err)
			}
			used := ProcessorTime(pids...) - before
			if round == 0 {
				continue
			}
			m.taken = append(m.taken, taken...)
			if used > 0 {
				m.used = append(m.used, used/time.Duration(len(taken)*max(1, m.parts)))
			}
		}
	}
	for _, m := range b.all {
		b.report.Figures = append(b.report.Figures, m.figure())
	}
	return nil
}

func (m *measurement) figure() Figure {
	f := summary(m.taken)
	f.CPU = summary(m.used).Median
	f.What, f.Beside, f.Clock, f.Note = m.what, m.table.Name, m.clock, m.note
	return f
}

// summary orders what was taken.
func summary(taken []time.Duration) Figure {
	if len(taken) == 0 {
		return Figure{}
	}
	sorted := slices.Sorted(slices.Values(taken))
	at := func(share float64) time.Duration { return sorted[int(share*float64(len(sorted)-1)+0.5)] }
	return Figure{N: len(sorted), Median: at(0.5), Least: sorted[0], P95: at(0.95)}
}

// read times a read of the console by what it cost the server.
func (b *bench) read(what string, t *table, do func(ctx context.Context) error) *measurement {
	m := &measurement{what: what, table: t, clock: OnServer, run: func(ctx context.Context) ([]time.Duration, error) {
		before := t.db.ServerTime()
		err := do(ctx)
		return []time.Duration{t.db.ServerTime() - before}, err
	}}
	b.all = append(b.all, m)
	return m
}

// onServer runs a statement and times it as the console's reads are timed.
func onServer(ctx context.Context, conn *pgx.Conn, sql string, arguments ...any) (time.Duration, error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN")
	batch.Queue(sql, arguments...)
	batch.Queue("SELECT (extract(epoch FROM clock_timestamp() - transaction_timestamp()) * 1000000)::bigint")
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, batch)
	var elapsed int64
	for range 2 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return 0, err
		}
	}
	err := results.QueryRow().Scan(&elapsed)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	return time.Duration(elapsed) * time.Microsecond, err
}

// connect opens a connection that keeps no prepared statements, as the store's do not.
func connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return pgx.ConnectConfig(ctx, config)
}
