package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// querier is the part of a connection, pool or transaction that a single read needs.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// parseDSN reads a connection string as psql would, the PG* variables, the service
// file and the password file included. The library's own error holds the string, so
// it is not passed on. What it reads as host, user, database and parameters may be shown
// afterwards: see misread.
func parseDSN(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, &Problem{What: "the connection string cannot be read", Next: nextDSN, kind: ErrBadDSN}
	}
	if next := misread(dsn, config); next != "" {
		return nil, &Problem{What: "the connection string cannot be read", Next: next, kind: ErrBadDSN}
	}
	// Works through pgbouncer in transaction mode: nothing is kept on a server connection.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.StatementCacheCapacity = 0
	config.DescriptionCacheCapacity = 0
	return config, nil
}

// explainConnect puts a failed connection into a user's words: host, database and user
// only, never the connection string.
func explainConnect(config *pgx.ConnConfig, err error) error {
	database := config.Database
	if database == "" {
		database = config.User // as the server has it
	}
	where := fmt.Sprintf("%s at %s as %s", database, address(config), config.User)
	p := &Problem{kind: ErrUnreachable}
	var server *pgconn.PgError
	var dns *net.DNSError
	switch {
	case errors.As(err, &server):
		p.Code = server.Code
		p.What = fmt.Sprintf("the server refused the connection to %s: %s", where, server.Message)
		if !quotable(config, server.Message) {
			p.What = fmt.Sprintf("the server refused the connection to %s (%s)", where, server.Code)
			p.Next = "check the parameters in the connection string; a password with a space in it is put between single quotes"
		}
		switch server.Code {
		case "28P01", "28000":
			p.kind = ErrNoRights
			p.Next = "check the user and the password (PGPASSWORD, or ~/.pgpass with mode 0600), and pg_hba.conf on the server"
		case "3D000":
			p.Next = "check the database's name; psql -l lists those of the server"
		case "42501":
			p.kind = ErrNoRights
			p.Next = fmt.Sprintf("ask for GRANT CONNECT ON DATABASE %s TO %s", identifier(database), identifier(config.User))
		case "53300":
			p.Next = "the server has no connection left; try again, or go through a pooler"
		case "57P03":
			p.Next = "the server is starting up or recovering; try again in a moment"
		}
	case errors.As(err, &dns):
		p.What = fmt.Sprintf("there is no host of that name for %s", where)
		p.Next = "check the host in the connection string"
	case untrusted(err) != nil:
		p.What = fmt.Sprintf("the server's certificate is not trusted for %s: %s", where, untrusted(err))
		p.Next = "check that sslrootcert names the authority that issued it, and that the host is the one in it"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		p.What = fmt.Sprintf("nothing answers for %s", where)
		p.Next = "check host and port, and that PostgreSQL runs; jobtop demo needs no server"
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
		p.kind = ErrTimeout
		p.What = fmt.Sprintf("no answer from %s in time", where)
		p.Next = "check the network and firewalls"
	default:
		p.What = fmt.Sprintf("no connection to %s", where)
		p.Next = "check host, port and sslmode"
	}
	return p
}

// untrusted is what is wrong with the server's certificate, nil where nothing is.
func untrusted(err error) error {
	var wrapped *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &wrapped):
		return wrapped.Err
	case errors.As(err, &authority):
		return authority
	case errors.As(err, &host):
		return host
	case errors.As(err, &invalid):
		return invalid
	}
	return nil
}

func address(config *pgx.ConnConfig) string {
	if config.Host != "" && config.Host[0] == '/' {
		return config.Host
	}
	return net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
}
