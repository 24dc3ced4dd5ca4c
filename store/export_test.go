package store

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Traced is a DB like another one that tells a tracer about each statement it sends.
func Traced(db *DB, tracer pgx.QueryTracer) (*DB, error) {
	config := db.pool.Config()
	config.ConnConfig.Tracer = tracer
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	return &DB{pool: pool}, err
}

// Statement is a text of sql/, whole: a part is put into what it is made for.
type Statement struct{ Name, SQL string }

// Statements are all those of sql/.
func Statements() []Statement {
	files, _ := fs.Glob(statements, "sql/*.sql")
	list := make([]Statement, 0, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "sql/"), ".sql")
		list = append(list, Statement{Name: name, SQL: whole(name)})
	}
	return list
}

func whole(name string) string {
	scanned := func(order string) *search {
		return &search{scan: "jobs_scan_state_oldest", states: openStates, sorted: order == "jobs_order_sort"}
	}
	switch {
	case slices.Contains([]string{"jobs_order_scan", "jobs_order_sort", "jobs_found", "jobs_rows"}, name):
		return scanned(name).sql()
	case name == "actions_rows":
		s, _ := newActionSearch(ActionQuery{})
		return s.statement().sql
	}
	return query(name)
}
