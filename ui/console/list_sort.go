package console

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/theme"
)

// ordered says in which order the list is.
func (l *list) ordered() string {
	switch {
	case l.sortBy != "" && l.reversed:
		return "by " + l.sortBy + ", reversed"
	case l.sortBy != "":
		return "by " + l.sortBy
	}
	if n := len(l.pages.read); n > 0 {
		switch l.pages.read[n-1].Order {
		case store.NewestFirst:
			return "newest first"
		case store.ByID:
			return "by id"
		case store.WorstFirst:
			return "worst first"
		case store.OldestFirst:
			return "oldest first"
		}
	}
	return l.kind.order
}

// served are the orders that the database has an index for.
func served(column string, reversed bool) (store.Order, bool) {
	switch {
	case column == "" && !reversed:
		return "", true
	case column == "id" && !reversed:
		return store.ByID, true
	case column == "since" && reversed:
		return store.NewestFirst, true
	case column == "since":
		return store.OldestFirst, true
	}
	return "", false
}

// nextSort orders by the next column that the list can be ordered by.
func (l *list) nextSort() tea.Cmd {
	read := l.notWhole()
	columns := append([]string{""}, l.table.Sortable()...)
	at, part := slices.Index(columns, l.sortBy), !l.pages.whole()
	for step := 1; step <= len(columns); step++ {
		by := columns[(at+step)%len(columns)]
		if cmd, ok := l.sort(by, false); ok {
			if part {
				l.m.env.say(theme.Plain, read)
			}
			return cmd
		}
	}
	return nil
}

func (l *list) reverseSort() tea.Cmd {
	cmd, ok := l.sort(l.sortBy, !l.reversed)
	if !ok {
		l.m.env.say(theme.Warn, "this order cannot be reversed: "+l.notWhole())
	}
	return cmd
}

func (l *list) notWhole() string {
	return fmt.Sprintf("only by id and by time: other orders take every row, and %d were read; narrow the filter, or read on with %s",
		l.table.Total(), l.m.env.keymap.Get("bottom").First())
}

// sort orders what was read where that is everything, and asks the database otherwise: an
// order of a part would pass for one of the whole.
func (l *list) sort(by string, reversed bool) (tea.Cmd, bool) {
	if l.pages.whole() {
		l.sortBy, l.reversed = by, reversed
		l.table.Sort(by, reversed)
		return nil, true
	}
	order, ok := served(by, reversed)
	if !ok || l.kind.query.Stuck && by == "since" {
		return nil, false
	}
	l.restart()
	l.order, l.sortBy, l.reversed = order, by, reversed
	return l.refresh(), true
}
