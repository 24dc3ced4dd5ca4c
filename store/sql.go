package store

import (
	"embed"
	"fmt"
)

//go:embed sql/*.sql
var statements embed.FS

// query returns the text of sql/NAME.sql. A missing one is a mistake of ours that
// every test of the statement finds, so it panics.
func query(name string) string {
	text, err := statements.ReadFile("sql/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("store: no statement %q", name))
	}
	return string(text)
}
