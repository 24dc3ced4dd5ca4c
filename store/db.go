// Package store is what is recorded: it connects to PostgreSQL, reads jobs and their
// history, passes acts and workers' calls to the functions of the schema, and applies
// that schema. It alone knows the driver.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options says how to connect.
type Options struct {
	// DSN is a connection string as psql takes it; empty: the PG* variables.
	DSN string
	// Application is shown in pg_stat_activity, "jobtop" if empty.
	Application string
	// MaxConns bounds the connections; 3 if zero.
	MaxConns int32
	// ActTimeout is how long the server may take over an act or a settle; 8 s if zero. We
	// wait half as long again.
	ActTimeout time.Duration
}

// ConsoleApplication is the Application of one console, by which others count it: they
// share what reading may cost the server.
func ConsoleApplication(version string) string {
	return "jobtop console " + strings.ToLower(rand.Text()[:6]) + " " + version
}

// DB is a database with a jobtop schema. It is safe for concurrent use.
type DB struct {
	pool  *pgxpool.Pool
	acts  time.Duration // Options.ActTimeout
	spent atomic.Int64  // nanoseconds of the server's time, of all reads
}

// connectTimeout bounds each attempt to connect, for each host of the DSN.
const connectTimeout = 5 * time.Second

// Open reads the connection string and readies a pool. It connects to nothing yet: a
// console that starts while the database is away shows so and keeps trying.
func Open(ctx context.Context, o Options) (*DB, error) {
	connection, err := parseDSN(o.DSN)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, &Problem{What: "the PG* variables cannot be read", Next: "check PGPORT, PGSSLMODE and the like", kind: ErrBadDSN}
	}
	config.ConnConfig = connection
	if connection.ConnectTimeout == 0 {
		connection.ConnectTimeout = connectTimeout
	}
	if o.Application == "" {
		o.Application = "jobtop"
	}
	connection.RuntimeParams["application_name"] = o.Application
	config.MaxConns = 3
	if o.MaxConns > 0 {
		config.MaxConns = o.MaxConns
	}
	config.MinConns = 0
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, explainConnect(connection, err)
	}
	return &DB{pool: pool, acts: o.ActTimeout}, nil
}

// Close ends all connections.
func (db *DB) Close() { db.pool.Close() }

func (db *DB) explainAcquire(err error) error {
	return explainConnect(db.pool.Config().ConnConfig, err)
}

// forget drops the pool's other connections after an error that says that they, too,
// lead to a server which is gone or no longer the primary. Where nothing answered, each
// of them would take its whole time to say so again.
func (db *DB) forget(err error) {
	var server *pgconn.PgError
	if gone := errors.As(err, &server) && (takesNoWrites(server) || strings.HasPrefix(server.Code, "57P")); gone || pgconn.Timeout(err) {
		db.pool.Reset()
	}
}
