package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The server gives a read up before we do, so that whoever gives up first is the one
// who can stop it. The client's deadline also covers getting a connection.
const (
	readServerTimeout = 4 * time.Second
	readLockTimeout   = time.Second
	readClientTimeout = readServerTimeout + connectTimeout
)

// statement is one query of a read and what becomes of its rows.
type statement struct {
	sql       string
	arguments pgx.NamedArgs
	rows      func(pgx.Rows) error
}

// read sends statements in one round trip, inside one read-only transaction with one
// snapshot, and returns how long the server was at it. The transaction sets its own
// bounds, since a pooler keeps no settings of a session. A database with another schema
// than ours is a SchemaError.
func (db *DB) read(ctx context.Context, doing string, statements ...statement) (time.Duration, error) {
	status := SchemaStatus{Want: SchemaVersion()}
	version := statement{sql: query("schema_version"), rows: one(func(row pgx.Rows) error { return row.Scan(&status.Have) })}
	current := func(rows pgx.Rows) error {
		if err := version.rows(rows); err != nil {
			return err
		}
		if !status.Current() {
			return &SchemaError{Status: status}
		}
		return nil
	}
	return db.readAny(ctx, doing, append([]statement{{sql: version.sql, rows: current}}, statements...)...)
}

// readAny is read for a database whose schema may be missing or of another version.
func (db *DB) readAny(ctx context.Context, doing string, statements ...statement) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, readClientTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return 0, db.explainAcquire(err)
	}
	defer conn.Release()

	sent := time.Now()
	cost, err := send(ctx, conn.Conn(), statements)
	var server *pgconn.PgError
	if errors.As(err, &server) {
		cost = time.Since(sent) // what it gave up took its time too
	}
	db.spent.Add(int64(cost))
	if err == nil {
		return cost, nil
	}
	db.forget(err)
	if conn.Conn().PgConn().TxStatus() == 'E' {
		_, _ = conn.Exec(ctx, "ROLLBACK") // spares the pool a new connection
	}
	return cost, db.lacking(viewerRole, explain(doing, err))
}

func send(ctx context.Context, conn *pgx.Conn, statements []statement) (cost time.Duration, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	batch.Queue(query("read_bounds"), readServerTimeout.Milliseconds(), readLockTimeout.Milliseconds())
	for _, s := range statements {
		if s.arguments == nil {
			batch.Queue(s.sql)
		} else {
			batch.Queue(s.sql, s.arguments)
		}
	}
	batch.Queue(query("read_cost"))
	batch.Queue("COMMIT")
	results := conn.SendBatch(ctx, batch)
	defer func() {
		if closeErr := results.Close(); err == nil {
			err = closeErr
		}
	}()

	for range 2 {
		if _, err := results.Exec(); err != nil {
			return 0, err
		}
	}
	for _, s := range statements {
		rows, err := results.Query()
		if err != nil {
			return 0, err
		}
		err = s.rows(rows)
		rows.Close()
		if err == nil {
			err = rows.Err()
		}
		if err != nil {
			return 0, err
		}
	}
	var elapsed int64
	if err := results.QueryRow().Scan(&elapsed); err != nil {
		return 0, err
	}
	return time.Duration(elapsed) * time.Microsecond, nil
}

// ServerTime is the server's time that the reads of this DB have taken so far, all
// together. What a program may spend is measured by its growth.
func (db *DB) ServerTime() time.Duration { return time.Duration(db.spent.Load()) }

// one reads a single row; without one nothing is scanned.
func one(scan func(pgx.Rows) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		if !rows.Next() {
			return rows.Err()
		}
		return scan(rows)
	}
}

// each reads every row.
func each(scan func(pgx.Rows) error) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			if err := scan(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	}
}
