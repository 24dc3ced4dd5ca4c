package sandbox

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNoLocale means that the server knows no locale that sorts differently from C.
var ErrNoLocale = errors.New("no locale for UTF-8 that sorts differently from C; on Debian and Ubuntu, " +
	"apt install locales-all brings them; on Red Hat and Fedora, dnf install glibc-langpack-en")

// CreateOptions say how to create a database. The zero value gives an empty one in the server's locale.
type CreateOptions struct {
	// Template is the database to copy, which nobody may be connected to; "" is an empty one.
	Template string

	// NonCLocale gives the database a locale in which text sorts differently from C: that of American
	// English where the server has it. An error is ErrNoLocale when it has none at all.
	NonCLocale bool
}

// CreateDatabase creates a database.
func (s *Server) CreateDatabase(ctx context.Context, name string, opts CreateOptions) error {
	return s.asSuperuser(ctx, func(conn *pgx.Conn) error { return CreateDatabase(ctx, conn, name, opts) })
}

// DropDatabase drops a database, if there is one, and ends the sessions in it.
func (s *Server) DropDatabase(ctx context.Context, name string) error {
	return s.asSuperuser(ctx, func(conn *pgx.Conn) error { return DropDatabase(ctx, conn, name) })
}

func (s *Server) asSuperuser(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return do(conn)
}

// CreateDatabase is Server.CreateDatabase over a superuser's connection to any database of the server.
func CreateDatabase(ctx context.Context, conn *pgx.Conn, name string, opts CreateOptions) error {
	template := opts.Template
	if template == "" {
		template = "template0" // the only one that takes any locale
	}
	sql := "create database " + quote(name) + " template " + quote(template)
	if opts.NonCLocale {
		locale, err := nonCLocale(ctx, conn)
		if err != nil {
			return err
		}
		sql += " " + locale
	}
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return nil
}

// DropDatabase is Server.DropDatabase over a superuser's connection to another database of the server.
func DropDatabase(ctx context.Context, conn *pgx.Conn, name string) error {
	if _, err := conn.Exec(ctx, "drop database if exists "+quote(name)+" with (force)"); err != nil {
		return fmt.Errorf("drop database %s: %w", name, err)
	}
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// collations lists what may sort differently from C, the most wanted first. ICU can be a database's
// provider since version 15.
const collations = `
select collname, collprovider::text, coalesce(collcollate, '')
from pg_collation
where collnamespace = 'pg_catalog'::regnamespace
  and (collprovider = 'c' and collencoding = pg_char_to_encoding('UTF8') and collcollate !~ '^(C|POSIX)(\.|$)'
    or collprovider = 'i' and collname = 'en-US-x-icu' and current_setting('server_version_num')::int >= 150000)
order by collname !~* '^en_US\.utf-?8$', collprovider <> 'i', collname`

// nonCLocale returns the clause of CREATE DATABASE for a locale that sorts differently from C. A name
// is no proof (on macOS even en_US.UTF-8 may sort by bytes), so each is tried.
func nonCLocale(ctx context.Context, conn *pgx.Conn) (string, error) {
	type collation struct{ Name, Provider, Locale string }
	rows, err := conn.Query(ctx, collations)
	if err != nil {
		return "", err
	}
	candidates, err := pgx.CollectRows(rows, pgx.RowToStructByPos[collation])
	if err != nil {
		return "", err
	}
	for _, c := range candidates {
		var differs bool
		err := conn.QueryRow(ctx, "select 'a' < 'B' collate "+quote(c.Name)).Scan(&differs)
		if err != nil || !differs {
			continue
		}
		if c.Provider == "i" {
			return "locale_provider icu icu_locale 'en-US' locale 'C'", nil
		}
		return "locale '" + strings.ReplaceAll(c.Locale, "'", "''") + "'", nil
	}
	return "", ErrNoLocale
}
