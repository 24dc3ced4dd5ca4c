package bench

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
)

//go:embed sql/*.sql
var statements embed.FS

// query is the text of sql/NAME.sql.
func query(name string) string {
	text, err := statements.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("bench: no statement %q", name))
	}
	return strings.TrimRight(string(text), "; \n")
}

// table is a database that was filled.
type table struct {
	Table
	size     size
	database string
	dsn      string
	db       *store.DB
}

// triedID is a job with 10,000 attempts that every table has.
const triedID = "job-tried-again-and-again"

// filled are the tables in the order in which they are begun, the largest first.
var filled = []string{"jobtop.attempts", "jobtop.jobs", "jobtop.receipts", "jobtop.actions", "jobtop.late_reports"}

// fill makes a database of a size. Rows go in without triggers and indexes, which are
// made afterwards exactly as they were: in half the time, and as compact as after a
// reindex.
func (b *bench) fill(ctx context.Context, s size) (*table, error) {
	b.Progress(fmt.Sprintf("making the table %q: %s jobs", s.title, count(s.total())))
	started := time.Now()
	t, err := b.place.create(ctx, s.name)
	if err != nil {
		return nil, err
	}
	b.tables[s.name] = t
	conn, err := pgx.Connect(ctx, t.dsn)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()

	before, err := indexes(ctx, conn)
	if err != nil {
		return nil, err
	}
	for i := len(before) - 1; i >= 0; i-- {
		if _, err := conn.Exec(ctx, before[i].drop); err != nil {
			return nil, fmt.Errorf("%s: %w", before[i].drop, err)
		}
	}
	arguments := pgx.NamedArgs{
		"done": s.done, "pending": s.pending, "running": s.running, "stuck": s.stuck, "failed": s.failed, "review": s.review, "dead": s.dead,
		"base": time.Now().UTC().Format(time.RFC3339Nano), "tried": triedID,
	}
	if err := b.eachFilled(ctx, t.dsn, func(ctx context.Context, conn *pgx.Conn, name string) error {
		return fillOne(ctx, conn, name, arguments, before)
	}); err != nil {
		return nil, err
	}
	// Those that look at two tables.
	for _, i := range before {
		if strings.Contains(i.make, "FOREIGN KEY") {
			if _, err := conn.Exec(ctx, i.make); err != nil {
				return nil, fmt.Errorf("%s: %w", i.make, err)
			}
		}
	}
	if err := b.eachFilled(ctx, t.dsn, vacuum); err != nil {
		return nil, err
	}
	after, err := indexes(ctx, conn)
	if err != nil {
		return nil, err
	}
	if fmt.Sprint(after) != fmt.Sprint(before) {
		return nil, fmt.Errorf("the indexes are not as they were: %v, before %v", after, before)
	}

	t.size, t.Table = s, Table{Name: s.title, Jobs: s.total() + 1, Open: s.open() + 1}
	if err := conn.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&t.Bytes); err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return nil, err
	}
	t.Took = time.Since(started)
	return t, nil
}

// eachFilled does something with every table, two at a time.
func (b *bench) eachFilled(ctx context.Context, dsn string, do func(ctx context.Context, conn *pgx.Conn, name string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan string, len(filled))
	for _, name := range filled {
		work <- name
	}
	close(work)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			conn, err := pgx.Connect(ctx, dsn)
			if err != nil {
				cancel(err)
				return
			}
			defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
			for name := range work {
				if err := do(ctx, conn, name); err != nil && ctx.Err() == nil {
					cancel(fmt.Errorf("filling %s: %w", name, err))
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func fillOne(ctx context.Context, conn *pgx.Conn, name string, arguments pgx.NamedArgs, list []index) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	short := strings.TrimPrefix(name, "jobtop.")
	sql := []string{"WITH wanted AS NOT MATERIALIZED (" + query("wanted") + ")\n" + query("fill_"+short)}
	switch short {
	case "jobs":
		sql = append(sql, query("tried_job"))
	case "attempts":
		sql = append(sql, query("tried_attempts"))
	}
	// A table that was emptied in the same transaction needs no write-ahead log.
	for _, statement := range []string{"SET LOCAL session_replication_role = replica", "SET LOCAL synchronous_commit = off", "TRUNCATE " + name} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	for _, statement := range sql {
		if _, err := tx.Exec(ctx, statement, pgx.QueryExecModeExec, arguments); err != nil {
			return err
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	for _, i := range list {
		if i.table == name && !strings.Contains(i.make, "FOREIGN KEY") {
			if _, err := conn.Exec(ctx, i.make); err != nil {
				return fmt.Errorf("%s: %w", i.make, err)
			}
		}
	}
	return nil
}

// vacuum comes when no other transaction runs that could still need what it clears, so
// that every page is known to be visible to all, as in a table that has been there long.
func vacuum(ctx context.Context, conn *pgx.Conn, name string) error {
	_, err := conn.Exec(ctx, "VACUUM (ANALYZE) "+name)
	return err
}

// index is an index or a constraint of the tables that are filled.
type index struct{ table, drop, make string }

func indexes(ctx context.Context, conn *pgx.Conn) ([]index, error) {
	// So that every name is told with its schema.
	if _, err := conn.Exec(ctx, "SET search_path = pg_catalog"); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, query("indexes"), pgx.QueryExecModeExec, pgx.NamedArgs{"tables": filled})
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (i index, err error) {
		err = row.Scan(&i.table, &i.drop, &i.make)
		return i, err
	})
}
