package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// CountOpen counts the jobs in each of some open states, at one moment and no further than
// a bound, where they are Capped. A dearer kind of Poll, for states that Poll caps.
func (db *DB) CountOpen(ctx context.Context, states []string, bound int64) (counts map[string]Count, cost time.Duration, err error) {
	counts = map[string]Count{}
	cost, err = db.read(ctx, "count the open jobs", statement{
		sql: query("count_capped"), arguments: pgx.NamedArgs{"states": states, "bound": bound},
		rows: each(func(row pgx.Rows) error {
			var state string
			var n int64
			if err := row.Scan(&state, &n); err != nil {
				return err
			}
			counts[state] = Count{N: n, Precision: Exact}
			if n > bound {
				counts[state] = Count{N: bound, Precision: Capped}
			}
			return nil
		}),
	})
	return counts, cost, err
}

// The bounds of a step of counting the done jobs.
const (
	// tailBound is how many receipts are counted anew in each step.
	tailBound = 100_000
	// actionsBound is how many of the latest actions are looked at for a retention.
	actionsBound = 1_000
	// clockSlack is left between the moment a receipt gets its time and the one its writer
	// can be seen.
	clockSlack = time.Second
)

// DoneTally is a count of the done jobs in the making. The zero value is a new one; each
// TallyDone brings it further. Receipts never change, and are only added with a time of
// now and taken away by retention: so what is older than every transaction that may
// still add some is counted once, in slices, and the rest anew in each step.
type DoneTally struct {
	// Count is what the last step found: exact and of its moment, once Known.
	Count Count
	Known bool
	// Counted is how many are counted for good.
	Counted int64
	// Anew says why the last step began from the start again, "" where it did not.
	Anew string
	// Cost is the server's time that the last step took.
	Cost time.Duration

	at      position // Counted is up to here
	settled int64    // no receipt older than this is still to come
	next    int64    // and than this, once all of writers are gone
	writers []string
	ground  ground
}

// ground is what a tally rests on: with another one it is void.
type ground struct {
	table     string
	first     string // receipt
	retention string
}

// TallyDone counts the next slice of done jobs, of some rows. It returns the tally as it
// is then; the one given stays as it was. On a replica a tally is never known, since what
// is still to come cannot be told there.
func (db *DB) TallyDone(ctx context.Context, t DoneTally, rows int64) (DoneTally, error) {
	var now int64
	var found ground
	var first, retention *string
	var writers []string
	var at, rest *int64
	var id *string
	since, before, bound := "-infinity", "-infinity", rows // while nothing is settled no slice can be taken
	if t.settled > 0 {
		since, before, bound = timestamp(t.settled), timestamp(t.settled), tailBound
	}
	cost, err := db.read(ctx, "count the done jobs",
		statement{sql: query("count_ground"), arguments: pgx.NamedArgs{"since": since, "bound": actionsBound}, rows: one(func(row pgx.Rows) error {
			return row.Scan(&found.table, &first, &retention, &now, &writers)
		})},
		statement{sql: query("count_done"), arguments: t.at.after(pgx.NamedArgs{"before": before, "rows": rows, "bound": bound + 1}), rows: one(func(row pgx.Rows) error {
			return row.Scan(&at, &id, &rest, nil)
		})},
	)
	if err != nil {
		return t, err
	}
	found.first, found.retention = text(first), text(retention)
	replica := writers == nil
	anew := t.ground.differs(found)
	if anew != "" || replica {
		t.at, t.Counted = position{}, 0
	}
	if t.ground.table != found.table {
		t.settled, t.next, t.writers = 0, 0, nil
	}
	next := DoneTally{Anew: anew, Cost: cost, Counted: t.Counted, at: t.at, settled: t.settled, next: t.next, writers: t.writers, ground: found}
	if found.retention == "" {
		next.ground.retention = t.ground.retention
	}
	switch {
	case replica, anew != "":
	case rest == nil:
		next.Counted, next.at = t.Counted+rows, position{at: *at, id: *id}
	case *rest <= bound:
		next.Count, next.Known = Count{N: t.Counted + *rest, Precision: Exact}, true
	}
	// What a step learns of the writers holds for the next one: they are looked at a little
	// later than the snapshot was taken.
	if !slices.ContainsFunc(t.writers, func(w string) bool { return slices.Contains(writers, w) }) {
		next.settled, next.next, next.writers = max(t.settled, t.next), now-clockSlack.Microseconds(), writers
	}
	if len(writers) == 0 && !replica {
		next.settled = max(next.settled, next.next)
	}
	return next, nil
}

// differs says in what the ground that was found differs, "" where it is the same.
func (g ground) differs(found ground) string {
	switch {
	case g == (ground{}):
		return ""
	case g.table != found.table:
		return "another server, or one that was started again"
	case g.first != found.first && g.first != "", found.retention != "" && found.retention != g.retention:
		return "retention removed done jobs"
	}
	return ""
}
