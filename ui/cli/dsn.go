package cli

import (
	"os"
	"strings"
)

// dsn is the connection string to use: --db, the profile's, DATABASE_URL, or "" for the
// PG* variables.
func (a *app) dsn() string {
	switch {
	case a.flags.db != "":
		return expandName(a.flags.db)
	case a.profile.DSN != "":
		return expandName(a.profile.DSN)
	default:
		return expandName(os.Getenv("DATABASE_URL"))
	}
}

// expandName makes a connection string of a database's bare name, as psql does.
func expandName(s string) string {
	if s == "" || strings.Contains(s, "://") || strings.Contains(s, "=") {
		return s
	}
	return "dbname='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
