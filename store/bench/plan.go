package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

// What is measured, by the names that the report uses.
const (
	poll       = "poll"
	overview   = "overview"
	groupBy    = "SELECT state, count(*) … GROUP BY state"
	counting   = "exact count of all, on request"
	stuckList  = "stuck, first page"
	reviewList = "review, first page"
	deepPage   = "jobs, page 1,000"
	doneDeep   = "done jobs, page 1,000"
	byID       = "search by id"
	byPrefix   = "search by id prefix"
	byEffect   = "search by effect key"
	byReceipt  = "search by receipt"
	detail     = "a job"
	tried      = "a job with 10,000 attempts"
	doctor     = "contradictions"
	oneAct     = "act (requeue)"
	bareUpdate = "a bare guarded UPDATE"
	bulk       = "bulk, each job"
	loop       = "SELECT jobtop.act in a loop, each job"
)

// plan readies what is measured on each table.
func (b *bench) plan(ctx context.Context, sizes []size) error {
	b.Progress("getting ready to measure")
	for _, s := range sizes {
		t := b.tables[s.name]
		if b.wants(Done) && (s.name == small || s.name == middle || s.name == large) || s.name == waiting || s.name == stalled || s.name == small {
			b.read(poll, t, func(ctx context.Context) error { _, err := t.db.Poll(ctx); return err })
			b.read(overview, t, func(ctx context.Context) error { _, err := t.db.Overview(ctx); return err })
		}
		if s.name == large || s.name == stalled {
			b.planStuck(t)
		}
		if s.name != large {
			continue
		}
		b.read(tried, t, func(ctx context.Context) error { _, err := t.db.Job(ctx, triedID); return err })
		if !b.wants(Done) {
			continue
		}
		for _, plan := range []func(context.Context, *table) error{b.planBaseline, b.planLists, b.planSearches, b.planActs, b.planBulk} {
			if err := plan(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// planStuck also notes whether a list that did not look at all jobs said so.
func (b *bench) planStuck(t *table) {
	var m *measurement
	m = b.read(stuckList, t, func(ctx context.Context) error {
		page, err := t.db.Jobs(ctx, store.JobQuery{Stuck: true})
		if page.Limited {
			m.note = bounded
		}
		return err
	})
}

// bounded notes that a list said it had not looked at all jobs.
const bounded = "bounded, and says so"

func (b *bench) planBaseline(_ context.Context, t *table) error {
	m := &measurement{what: groupBy, table: t, clock: OnServer}
	m.run = b.withConnection(t, func(ctx context.Context, conn *pgx.Conn) ([]time.Duration, error) {
		took, err := onServer(ctx, conn, "SELECT state, count(*) FROM jobtop.jobs GROUP BY state")
		return []time.Duration{took}, err
	})
	b.all = append(b.all, m, &measurement{what: counting, table: t, clock: OnServer, rounds: countRounds, run: func(ctx context.Context) ([]time.Duration, error) {
		counts, err := t.db.CountExactly(ctx, 0, nil)
		return []time.Duration{counts.ServerCost}, err
	}})
	return nil
}

// countRounds is how often everything is counted: with ten million jobs it takes seconds.
const countRounds = 3

// withConnection gives a measurement a connection of its own, opened once.
func (b *bench) withConnection(t *table, do func(context.Context, *pgx.Conn) ([]time.Duration, error)) func(context.Context) ([]time.Duration, error) {
	var conn *pgx.Conn
	return func(ctx context.Context) ([]time.Duration, error) {
		if conn == nil {
			var err error
			if conn, err = connect(ctx, t.dsn); err != nil {
				return nil, err
			}
			b.conns = append(b.conns, conn)
		}
		return do(ctx, conn)
	}
}

func (b *bench) planLists(ctx context.Context, t *table) error {
	list := func(what string, q store.JobQuery) {
		b.read(what, t, func(ctx context.Context) error {
			page, err := t.db.Jobs(ctx, q)
			if err == nil && len(page.Jobs) == 0 {
				err = fmt.Errorf("the list is empty")
			}
			return err
		})
	}
	list(reviewList, store.JobQuery{Conditions: state("review")})
	for _, l := range []struct {
		what  string
		query store.JobQuery
	}{{deepPage, store.JobQuery{}}, {doneDeep, store.JobQuery{Conditions: state("done")}}} {
		deep, err := b.deep(ctx, t, l.query)
		if err != nil {
			return err
		}
		list(l.what, deep)
	}
	b.read(doctor, t, func(ctx context.Context) error { _, _, err := t.db.ContradictionsNow(ctx); return err })
	return nil
}

func state(name string) []store.Condition { return []store.Condition{{Field: "state", Value: name}} }

// deep pages to page 1,000 of a list, of 50 jobs each, or as far as there are jobs.
func (b *bench) deep(ctx context.Context, t *table, q store.JobQuery) (store.JobQuery, error) {
	pages := q
	pages.Limit = store.PageLimit
	for range 999*50/store.PageLimit - 1 {
		page, err := t.db.Jobs(ctx, pages)
		if err != nil || page.Next == "" {
			return q, err
		}
		q.After, pages.After = page.Next, page.Next
	}
	return q, nil
}

func (b *bench) planSearches(ctx context.Context, t *table) error {
	// A done job in the middle of the table: it has all that can be searched for.
	conn, err := connect(ctx, t.dsn)
	if err != nil {
		return err
	}
	b.conns = append(b.conns, conn)
	number := (t.size.done/2)/5*5 + 5
	if t.size.done < 5 {
		number = 1
	}
	var id, effect, receipt string
	err = conn.QueryRow(ctx, `SELECT j.id, j.effect_key, r.receipt_id FROM jobtop.receipts r JOIN jobtop.jobs j ON j.id = r.job_id WHERE r.receipt_id = $1::text`,
		fmt.Sprintf("r_%d", number)).Scan(&id, &effect, &receipt)
	if err != nil {
		return err
	}
	for _, s := range []struct{ what, field, value string }{
		{byID, "id", id}, {byPrefix, "id", id[:len("job-0000-")] + "*"}, {byEffect, "effect", effect}, {byReceipt, "receipt", receipt},
	} {
		q := store.JobQuery{Conditions: []store.Condition{{Field: s.field, Value: s.value}}}
		b.read(s.what, t, func(ctx context.Context) error {
			page, err := t.db.Jobs(ctx, q)
			if err == nil && len(page.Jobs) == 0 {
				err = fmt.Errorf("nothing was found for %s", s.value)
			}
			return err
		})
	}
	b.read(detail, t, func(ctx context.Context) error { _, err := t.db.Job(ctx, id); return err })
	return nil
}
