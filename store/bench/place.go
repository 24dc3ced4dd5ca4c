package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"jobtop/store"
	"jobtop/store/sandbox"
)

// place is where the tables are made: databases of its own on one server.
type place struct {
	dsn    string // of the database beside which they are made
	admin  *pgx.Conn
	prefix string // of their names
	server *sandbox.Server
	local  bool // its processes are on this machine
	made   []string
	roles  []string // that were there before
}

// findPlace starts a sandbox, or looks whether the database named may be used.
func findPlace(ctx context.Context, o Options) (_ *place, err error) {
	p := &place{dsn: o.DSN, prefix: Marker}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close())
		}
	}()
	if o.DSN == "" {
		o.Progress("starting a PostgreSQL server")
		p.server, err = sandbox.Start(ctx, sandbox.Options{Durable: true, Settings: map[string]string{
			"shared_buffers":       "512MB",
			"maintenance_work_mem": "512MB",
			"max_wal_size":         "8GB",
			"checkpoint_timeout":   "30min",
			// So that filling a table that is new anyway is not written twice.
			"wal_level": "minimal", "max_wal_senders": "0",
		}})
		if err != nil {
			return nil, err
		}
		p.dsn, p.local = p.server.URL("postgres"), true
	}
	if p.admin, err = pgx.Connect(ctx, p.dsn); err != nil {
		// The driver's own error may hold the connection string.
		if db, openErr := store.Open(ctx, store.Options{DSN: p.dsn}); openErr != nil {
			err = openErr
		} else {
			_, err = db.Server(ctx)
			db.Close()
		}
		return nil, err
	}
	if o.DSN != "" {
		if err := p.mayBeUsed(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := p.admin.Query(ctx, ourRoles)
	if err != nil {
		return nil, err
	}
	p.roles, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return p, err
}

const ourRoles = `SELECT rolname FROM pg_roles WHERE rolname IN ('jobtop_owner', 'jobtop_viewer', 'jobtop_payload', 'jobtop_operator', 'jobtop_worker')`

func (p *place) mayBeUsed(ctx context.Context) error {
	var super, replica bool
	err := p.admin.QueryRow(ctx, `SELECT current_database(), rolsuper, pg_is_in_recovery() FROM pg_roles WHERE rolname = current_user`).Scan(&p.prefix, &super, &replica)
	switch {
	case err != nil:
		return err
	case !strings.Contains(p.prefix, Marker):
		return &store.Problem{What: fmt.Sprintf("the database %s is not for benchmarks, and nothing was done there", p.prefix),
			Next: "name one whose name contains " + Marker + ", or none for a throwaway server"}
	case replica:
		return &store.Problem{What: "this server is a replica", Next: "name a database on a primary, or none for a throwaway server"}
	case !super:
		return &store.Problem{What: "filling a table fast needs a superuser, and this role is none", Next: "connect as one, or name no database for a throwaway server"}
	}
	return nil
}

// create makes an empty database with the schema and opens it.
func (p *place) create(ctx context.Context, name string) (*table, error) {
	name = p.prefix + "_" + name
	if len(name) > 63 {
		return nil, &store.Problem{What: "the database's name is too long to make others of it", Next: "name one of at most 50 characters"}
	}
	var there bool
	if err := p.admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&there); err != nil {
		return nil, err
	}
	if there {
		return nil, &store.Problem{What: fmt.Sprintf("there is a database %s already, and it was left alone", name), Next: "drop it, if an earlier benchmark left it"}
	}
	p.made = append(p.made, name)
	if err := sandbox.CreateDatabase(ctx, p.admin, name, sandbox.CreateOptions{}); err != nil {
		return nil, err
	}
	dsn := withDatabase(p.dsn, name)
	if _, err := store.ApplySchema(ctx, dsn); err != nil {
		return nil, err
	}
	// One connection, so that one process serves all that is measured.
	db, err := store.Open(ctx, store.Options{DSN: dsn, Application: "jobtop bench", MaxConns: 1})
	return &table{database: name, dsn: dsn, db: db}, err
}

// withDatabase is a connection string with another database.
func withDatabase(dsn, name string) string {
	if strings.Contains(dsn, "://") {
		if u, err := url.Parse(dsn); err == nil {
			u.Path = "/" + name
			return u.String()
		}
	}
	return strings.TrimSpace(dsn + " dbname='" + name + "'")
}

// describe tells the server and the settings that matter.
func (p *place) describe(ctx context.Context) (ServerFacts, error) {
	var f ServerFacts
	err := p.admin.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('shared_buffers'), current_setting('fsync') = 'on',
		current_setting('synchronous_commit') <> 'off', (SELECT datcollate FROM pg_database WHERE datname = current_database())`).
		Scan(&f.Version, &f.SharedBuffers, &f.Fsync, &f.SynchronousCommit, &f.Locale)
	f.Sandbox = p.server != nil
	return f, err
}

// backends are the processes that serve a table's database; none where the server may be
// on another machine.
func (p *place) backends(ctx context.Context, t *table) []int {
	if !p.local {
		return nil
	}
	rows, err := p.admin.Query(ctx, `SELECT pid FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`, t.database)
	if err != nil {
		return nil
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil
	}
	return pids
}

// close drops what was made, also after the caller's context was cancelled.
func (p *place) close() error {
	var errs []error
	if p.admin != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if p.server == nil {
			errs = append(errs, p.drop(ctx))
		}
		_ = p.admin.Close(ctx)
	}
	if p.server != nil {
		errs = append(errs, p.server.Stop())
	}
	return errors.Join(errs...)
}

func (p *place) drop(ctx context.Context) error {
	if p.admin.IsClosed() { // a cancelled statement takes its connection with it
		conn, err := pgx.Connect(ctx, p.dsn)
		if err != nil {
			return &store.Problem{What: "the databases " + strings.Join(p.made, ", ") + " could not be dropped", Next: "drop them by hand"}
		}
		p.admin = conn
	}
	var errs []error
	for _, name := range p.made {
		errs = append(errs, sandbox.DropDatabase(ctx, p.admin, name))
	}
	if len(p.made) > 0 {
		// Roles belong to the whole server. One that something else needs meanwhile stays.
		for _, role := range []string{"jobtop_operator", "jobtop_payload", "jobtop_worker", "jobtop_viewer", "jobtop_owner"} {
			if !contains(p.roles, role) {
				_, _ = p.admin.Exec(ctx, "DROP ROLE IF EXISTS "+role)
			}
		}
	}
	return errors.Join(errs...)
}

func contains(list []string, s string) bool {
	for _, other := range list {
		if other == s {
			return true
		}
	}
	return false
}
