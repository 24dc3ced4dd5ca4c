package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The bounds of a count of everything.
const (
	// CountLimit is how long it may take unless somebody asks for another limit: its one
	// snapshot keeps the server from clearing away what goes out of use meanwhile.
	CountLimit = time.Minute
	// countSlice is how many rows are counted between two looks at the clock.
	countSlice = 50_000
)

// Counting is how far a count of everything has come.
type Counting struct {
	State   string // that is being counted
	Counted int64
	// Expected is about how many there are by the planner's statistics; 0 while it has none.
	Expected int64
	Elapsed  time.Duration
}

// ExactCounts are the jobs of every state, at one moment.
type ExactCounts struct {
	States []StateCount // all six, in the order of the design; without ages of jobs
	// Age is how long ago that moment was when the count came to its end.
	Age time.Duration
	// ServerCost is the server's time that it took. It is not in DB.ServerTime: whoever
	// asks for it has to tell what it costs.
	ServerCost time.Duration
	Counting
}

// CountExactly counts the jobs of every state in one snapshot: the open ones in their
// index, the done ones by their receipts, in slices, so that it can be stopped by
// cancelling ctx, and gives up after limit (CountLimit if zero). It tells progress, unless
// that is nil, after the snapshot was taken and after each slice.
//
// When it does not come to its end the error is a Problem that says how far it came, and
// the counts hold what it knows: exact for the states it was through with, and for the
// others at least so many (Capped). It is context.Canceled where ctx was cancelled,
// ErrTimeout where the limit was hit.
func (db *DB) CountExactly(ctx context.Context, limit time.Duration, progress func(Counting)) (ExactCounts, error) {
	if limit <= 0 {
		limit = CountLimit
	}
	if progress == nil {
		progress = func(Counting) {}
	}
	acquire, cancel := context.WithTimeout(ctx, readClientTimeout)
	conn, err := db.pool.Acquire(acquire)
	cancel()
	if err != nil {
		return ExactCounts{}, db.explainAcquire(err)
	}
	defer conn.Release()

	c := &counter{db: db, conn: conn, began: time.Now(), limit: limit, progress: progress}
	for _, state := range []string{"pending", "running", "failed", "review", "done", "dead"} {
		c.counts.States = append(c.counts.States, StateCount{State: state, Count: Count{Precision: Capped}})
	}
	// Later than the server gives up, so that this is what ends a count that no server ends.
	within, cancel := context.WithTimeout(ctx, limit+readLockTimeout)
	defer cancel()
	err = c.count(within)
	c.counts.Elapsed = time.Since(c.began)
	c.counts.Age = c.counts.Elapsed
	if err == nil {
		return c.counts, nil
	}
	db.forget(err)
	if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLockTimeout)
		defer cancel()
		_, _ = conn.Exec(after, "ROLLBACK") // spares the pool a new connection
	}
	return c.counts, c.explain(ctx, err)
}

// counter is one count of everything.
type counter struct {
	db       *DB
	conn     *pgxpool.Conn
	began    time.Time
	limit    time.Duration
	progress func(Counting)
	counts   ExactCounts
}

var errOverLimit = errors.New("over the limit")

func (c *counter) count(ctx context.Context) error {
	if _, err := c.conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		return err
	}
	status := SchemaStatus{Want: SchemaVersion()}
	if err := c.ask(ctx, query("schema_version"), nil, &status.Have); err != nil {
		return err
	}
	if !status.Current() {
		return &SchemaError{Status: status}
	}
	var open, done int64
	if err := c.ask(ctx, query("count_expected"), nil, &open, &done); err != nil {
		return err
	}
	c.counts.Expected = max(open, 0) + max(done, 0)
	c.tell()
	// The done ones last: they are the most, and when time runs out the others are known.
	for _, state := range []string{"pending", "running", "failed", "review", "dead", "done"} {
		if err := c.countState(ctx, state); err != nil {
			return err
		}
	}
	_, err := c.conn.Exec(ctx, "COMMIT")
	return err
}

func (c *counter) countState(ctx context.Context, state string) error {
	i := slices.IndexFunc(c.counts.States, func(s StateCount) bool { return s.State == state })
	count := &c.counts.States[i].Count
	c.counts.State = state
	name, from := "count_open", position{}
	if state == "done" {
		name = "count_done"
	}
	for {
		arguments := from.after(pgx.NamedArgs{"state": state, "rows": countSlice, "before": "infinity", "bound": countSlice})
		var at, rest *int64
		var id *string
		var cost int64
		if err := c.ask(ctx, query(name), arguments, &at, &id, &rest, &cost); err != nil {
			return err
		}
		c.counts.ServerCost += *micros(&cost)
		n := int64(countSlice)
		if rest != nil {
			n = *rest
			count.Precision = Exact
		}
		count.N += n
		c.counts.Counted += n
		c.tell()
		if rest != nil {
			return nil
		}
		from = position{at: *at, id: *id}
	}
}

func (c *counter) tell() {
	c.counts.Elapsed = time.Since(c.began)
	c.progress(c.counts.Counting)
}

// ask sends one query that brings one row. The server gives it up at the limit.
func (c *counter) ask(ctx context.Context, sql string, arguments pgx.NamedArgs, into ...any) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	left := c.limit - time.Since(c.began)
	if left < time.Millisecond { // none at all would be no limit
		return errOverLimit
	}
	batch := &pgx.Batch{}
	batch.Queue(query("read_bounds"), left.Milliseconds(), min(left, readLockTimeout).Milliseconds())
	if arguments == nil {
		batch.Queue(sql)
	} else {
		batch.Queue(sql, arguments)
	}
	results := c.conn.SendBatch(ctx, batch)
	defer func() {
		if closeErr := results.Close(); err == nil {
			err = closeErr
		}
	}()
	if _, err := results.Exec(); err != nil {
		return err
	}
	return results.QueryRow().Scan(into...)
}

// explain says how far a count came that did not come to its end, and why.
func (c *counter) explain(ctx context.Context, err error) error {
	far := grouped(c.counts.Counted)
	if c.counts.Expected > c.counts.Counted {
		far += " of about " + grouped(c.counts.Expected)
	}
	far += " jobs were counted"
	var server *pgconn.PgError
	cancelled := errors.As(err, &server) && (server.Code == "57014" || server.Code == "55P03")
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &Problem{What: fmt.Sprintf("the count was stopped after %s: %s", c.counts.Elapsed.Round(100*time.Millisecond), far), kind: context.Canceled}
	case errors.Is(err, errOverLimit), errors.Is(err, context.DeadlineExceeded), cancelled && c.counts.Elapsed >= c.limit-readLockTimeout/10:
		return &Problem{What: fmt.Sprintf("the count was given up at its limit of %s: %s", c.limit, far), Next: "with a longer limit it comes further", kind: ErrTimeout}
	}
	return c.db.lacking(viewerRole, explain("count the jobs", err))
}

// grouped writes a number, not below zero, so that it can be read: 1,204.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// after adds where to go on.
func (p position) after(arguments pgx.NamedArgs) pgx.NamedArgs {
	arguments["after_at"], arguments["after_id"] = "-infinity", ""
	if p != (position{}) {
		arguments["after_at"], arguments["after_id"] = timestamp(p.at), p.id
	}
	return arguments
}
