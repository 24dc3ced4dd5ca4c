package store

import (
	"context"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"
)

// Server tells whom we talk to and what our role may do there. A missing schema or one
// of another version is no error here: Schema says so, and there are no Edges.
//
// Where there is a schema that the role may not read, it returns what it knows together
// with an ErrNoRights.
func (db *DB) Server(ctx context.Context) (Server, error) {
	s := Server{Schema: SchemaStatus{Want: SchemaVersion()}, Host: db.host()}
	var exists bool
	_, err := db.readAny(ctx, "ask the server about itself", statement{sql: query("server"), rows: one(func(row pgx.Rows) error {
		return row.Scan(&s.Database, &s.Role, &s.Version, &s.Replica, &s.WritesOff, &exists, &s.CanView, &s.CanAct, &s.CanReadPayload, &s.CanWork)
	})})
	if err != nil || !exists {
		return s, err
	}

	_, err = db.readAny(ctx, "read the schema's version",
		statement{sql: query("schema_version"), rows: one(func(row pgx.Rows) error { return row.Scan(&s.Schema.Have) })},
		statement{sql: query("edges"), rows: each(func(row pgx.Rows) error {
			var e Edge
			if err := row.Scan(&e.From, &e.To, &e.Actor); err != nil {
				return err
			}
			s.Edges = append(s.Edges, e)
			return nil
		})},
	)
	var schema *SchemaError
	if errors.As(err, &schema) {
		err = nil // begun and not finished: Schema.Have says how far
	}
	return s, err
}

// host is where the DSN points to: a name, an address or the directory of a socket.
func (db *DB) host() string {
	config := db.pool.Config().ConnConfig
	for _, other := range config.Fallbacks {
		if other.Host != config.Host {
			return db.answering(config)
		}
	}
	return config.Host
}

// answering is the address of the server that answered, out of several.
func (db *DB) answering(config *pgx.ConnConfig) string {
	for _, conn := range db.pool.AcquireAllIdle(context.Background()) {
		address := conn.Conn().PgConn().Conn().RemoteAddr()
		conn.Release()
		if tcp, ok := address.(*net.TCPAddr); ok {
			return tcp.IP.String()
		}
	}
	return config.Host
}
