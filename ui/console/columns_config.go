package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jobtop/ui/config"
	"jobtop/ui/nearest"
	"jobtop/ui/table"
	"jobtop/ui/text"
)

// choose gives lists the columns that the configuration names.
func (m *model) choose(c config.Config) error {
	for _, view := range slices.Sorted(maps.Keys(c.Columns)) {
		var err error
		switch s := m.screens[view].(type) {
		case *list:
			err = chooseColumns(s.table, c.Columns[view])
		case *actionLog:
			err = chooseColumns(s.table, c.Columns[view])
		default:
			err = fmt.Errorf("no list is called that; there are stuck, review, jobs and actions")
		}
		if err != nil {
			return fmt.Errorf("columns: %s: %w", text.ASCII.Line(view, 40), err)
		}
	}
	return nil
}

func chooseColumns[R any](t *table.Table[R], ids []string) error {
	for _, id := range ids {
		if !slices.Contains(t.Columns(), id) {
			return fmt.Errorf("it has no column %q%s; there are %s", id, nearest.DidYouMean(id, t.Columns()), strings.Join(t.Columns(), ", "))
		}
	}
	t.Order = ids
	return nil
}
