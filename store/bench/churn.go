package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// What the churn measures.
const (
	claimFresh = "claim, fresh table"
	claimQuiet = "claim, after the churn"
	claimOld   = "claim, after the churn under an old snapshot"
	pollFresh  = "poll, fresh table"
	pollQuiet  = "poll, after the churn"
	pollOld    = "poll, after the churn under an old snapshot"
)

const (
	backlog   = 2_000 // jobs that wait all the time
	churnBulk = 1_000 // jobs enqueued, claimed and completed at a time, claims by 100
	samples   = 50
)

// churn lets jobs go through a table, then again while an old snapshot keeps vacuum from
// removing anything: what was claimed then stays as dead entries at the head of the queue.
func (b *bench) churn(ctx context.Context) error {
	t, err := b.place.create(ctx, moving)
	if err != nil {
		return err
	}
	t.Name = "churn"
	b.tables[moving] = t
	c := &churning{bench: b, table: t}
	for _, conn := range []**pgx.Conn{&c.load, &c.probe, &c.old} {
		if *conn, err = connect(ctx, t.dsn); err != nil {
			return err
		}
		b.conns = append(b.conns, *conn)
	}
	if err := c.enqueue(ctx, backlog); err != nil {
		return err
	}
	if _, err := c.load.Exec(ctx, "VACUUM (ANALYZE) jobtop.jobs"); err != nil {
		return err
	}
	if err := c.sample(ctx, claimFresh, pollFresh, ""); err != nil {
		return err
	}
	if err := c.phase(ctx, "", claimQuiet, pollQuiet); err != nil {
		return err
	}
	if _, err := c.old.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ"); err != nil {
		return err
	}
	if _, err := c.old.Exec(ctx, "SELECT count(*) FROM jobtop.edges"); err != nil {
		return err
	}
	return c.phase(ctx, " under an old snapshot", claimOld, pollOld)
}

type churning struct {
	bench            *bench
	table            *table
	load, probe, old *pgx.Conn
	enqueued         int
}

func (c *churning) phase(ctx context.Context, how, claim, poll string) error {
	started, through := time.Now(), 0
	var last time.Time
	for time.Since(started) < c.bench.Churn {
		if time.Since(last) > time.Second {
			last = time.Now()
			c.bench.Progress(fmt.Sprintf("churn%s: %s jobs in %s of %s", how, count(int64(through)), time.Since(started).Round(time.Second), c.bench.Churn))
		}
		if err := c.enqueue(ctx, churnBulk); err != nil {
			return err
		}
		for range churnBulk / 100 {
			if err := c.work(ctx, 100); err != nil {
				return err
			}
		}
		through += churnBulk
	}
	return c.sample(ctx, claim, poll, fmt.Sprintf("%s jobs in %s", count(int64(through)), time.Since(started).Round(time.Second)))
}

func (c *churning) enqueue(ctx context.Context, n int) error {
	_, err := c.load.Exec(ctx, `SELECT count(jobtop.enqueue('churn-' || i, 'invoice.send')) FROM generate_series($1::bigint, $2::bigint) i`, c.enqueued+1, c.enqueued+n)
	c.enqueued += n
	return err
}

// claimSQL takes jobs; doneSQL completes what a token holds.
const (
	claimSQL = `SELECT count(*) FROM jobtop.claim('bench', $1::text::uuid, ARRAY['invoice.send'], $2::integer, true)`
	doneSQL  = `SELECT count(*) FROM jobtop.attempts a WHERE a.lock_token = $1::text::uuid AND jobtop.complete(a.job_id, a.lock_token, 'r_' || a.job_id) = 'done'`
)

func (c *churning) work(ctx context.Context, n int) error {
	token := newID()
	for _, step := range []struct {
		sql       string
		arguments []any
	}{{claimSQL, []any{token, n}}, {doneSQL, []any{token}}} {
		var got int
		if err := c.load.QueryRow(ctx, step.sql, step.arguments...).Scan(&got); err != nil {
			return err
		}
		if got != n {
			return fmt.Errorf("%d jobs came of a batch of %d", got, n)
		}
	}
	return nil
}

// sample times claims of single jobs by another worker, and polls.
func (c *churning) sample(ctx context.Context, claim, poll, note string) error {
	c.bench.Progress("measuring: " + claim)
	if err := c.enqueue(ctx, samples+1); err != nil {
		return err
	}
	var probe []int // to be told the processor's time of
	if c.bench.place.local {
		probe = []int{int(c.probe.PgConn().PID())}
	}
	claims := &measurement{what: claim, table: c.table, clock: OnServer, note: note}
	polls := &measurement{what: poll, table: c.table, clock: OnServer, note: note}
	for i := range samples + 1 {
		token := newID()
		before := ProcessorTime(probe...)
		took, err := onServer(ctx, c.probe, claimSQL, token, 1)
		if err != nil {
			return err
		}
		if i > 0 { // the first warms up
			claims.taken, claims.used = append(claims.taken, took), append(claims.used, ProcessorTime(probe...)-before)
		}
		if _, err := c.probe.Exec(ctx, doneSQL, token); err != nil {
			return err
		}
		if i%5 == 4 {
			before := c.table.db.ServerTime()
			if _, err := c.table.db.Poll(ctx); err != nil {
				return err
			}
			polls.taken = append(polls.taken, c.table.db.ServerTime()-before)
		}
	}
	for _, m := range []*measurement{claims, polls} {
		c.bench.report.Figures = append(c.bench.report.Figures, m.figure())
	}
	return nil
}
