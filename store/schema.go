package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// versionTable is where the migration library keeps what it applied. It is made
// before the first migration, by whoever applies.
const versionTable = "jobtop.schema_version"

// SchemaStatus says which schema a database has and which one this program needs.
type SchemaStatus struct {
	Have int64 // 0: no jobtop schema at all
	Want int64
}

// Current reports whether the database has exactly the schema this program needs.
func (s SchemaStatus) Current() bool { return s.Have == s.Want }

// SchemaVersion is the version of the schema this program needs: the number of its
// last migration.
func SchemaVersion() int64 {
	names := migrationNames()
	return migrationVersion(names[len(names)-1])
}

// ApplySchema brings the database up to SchemaVersion and returns the numbers of the
// migrations it ran, none when there was nothing to do. Each migration is one
// transaction; after an error those before it stand, and calling again goes on from
// there. Several callers at once wait for one another.
//
// The first time on a server it creates the five roles of jobtop, which needs a
// superuser or CREATEROLE; the schema needs CREATE on the database.
func ApplySchema(ctx context.Context, dsn string) ([]int64, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	holder, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, explainConnect(config, err)
	}
	defer func() { _ = holder.Close(context.WithoutCancel(ctx)) }()
	lock, err := holder.Begin(ctx)
	if err != nil {
		return nil, explain("apply the schema", err)
	}
	defer func() { _ = lock.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := lock.Exec(ctx, query("schema_lock")); err != nil {
		return nil, explain("wait for another schema apply to end", err)
	}

	status, err := schemaStatus(ctx, holder, config.User)
	if err != nil {
		return nil, advise(err, asOwner(config.User))
	}
	if status.Have > status.Want {
		return nil, &SchemaError{Status: status}
	}
	if status.Have == 0 {
		setup, err := pgx.ConnectConfig(ctx, config.Copy())
		if err != nil {
			return nil, explainConnect(config, err)
		}
		_, err = setup.Exec(ctx, query("schema_prelude"))
		_ = setup.Close(context.WithoutCancel(ctx))
		if err != nil {
			return nil, advise(explain("create the roles and the schema of jobtop", err),
				"run it as a superuser, or as a role that has CREATEROLE and may create in this database")
		}
	}
	return migrate(ctx, config)
}

func migrate(ctx context.Context, config *pgx.ConnConfig) ([]int64, error) {
	directory, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, directory, goose.WithTableName(versionTable))
	if err != nil {
		return nil, explain("read the migrations", err)
	}
	results, err := provider.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
		err = fmt.Errorf("migration %d: %w", partial.Failed.Source.Version, partial.Err)
	}
	applied := make([]int64, 0, len(results))
	for _, result := range results {
		applied = append(applied, result.Source.Version)
	}
	if err != nil {
		return applied, advise(explain("apply the schema", err), asOwner(config.User))
	}
	return applied, nil
}

// asOwner is what to do where a role may not change the schema.
func asOwner(user string) string {
	return "run it as the role that made the schema, or " + askFor("jobtop_owner", user)
}

// CheckSchema tells which schema a database has, without changing anything.
func CheckSchema(ctx context.Context, dsn string) (SchemaStatus, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return SchemaStatus{}, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return SchemaStatus{}, explainConnect(config, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	return schemaStatus(ctx, conn, config.User)
}

func schemaStatus(ctx context.Context, conn querier, user string) (SchemaStatus, error) {
	status := SchemaStatus{Want: SchemaVersion()}
	var exists, readable bool
	if err := conn.QueryRow(ctx, query("schema_exists")).Scan(&exists, &readable); err != nil {
		return status, explain("look for the schema", err)
	}
	switch {
	case !exists:
		return status, nil
	case !readable:
		return status, &Problem{
			What: fmt.Sprintf("the role %s may not read jobtop's tables", user),
			Next: askFor(viewerRole, user), kind: ErrNoRights,
		}
	}
	if err := conn.QueryRow(ctx, query("schema_version")).Scan(&status.Have); err != nil {
		return status, explain("read the schema's version", err)
	}
	return status, nil
}

// PrintSchema returns everything that ApplySchema runs as one script for psql, the
// version table included, for those who apply by hand after reading.
func PrintSchema() string {
	var script strings.Builder
	script.WriteString("-- The schema of jobtop, version " + strconv.FormatInt(SchemaVersion(), 10) + ", as jobtop schema apply makes it.\n" +
		"-- For a database that has none yet: psql -v ON_ERROR_STOP=1 -1 -f FILE\n\n")
	script.WriteString(query("schema_prelude"))
	script.WriteString("\n" + query("schema_version_table"))
	record := func(version int64) {
		fmt.Fprintf(&script, "INSERT INTO %s (version_id, is_applied) VALUES (%d, true);\n", versionTable, version)
	}
	record(0)
	for _, name := range migrationNames() {
		text, _ := migrations.ReadFile("migrations/" + name)
		script.WriteString("\n-- " + name + "\n")
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "-- +goose") {
				script.WriteString(line)
			}
		}
		record(migrationVersion(name))
	}
	return script.String()
}

func migrationNames() []string {
	entries, _ := migrations.ReadDir("migrations")
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	sort.Strings(names)
	return names
}

func migrationVersion(name string) int64 {
	number, _, _ := strings.Cut(name, "_")
	version, _ := strconv.ParseInt(number, 10, 64)
	return version
}
