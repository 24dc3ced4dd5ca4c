package cli

import (
	"encoding/csv"
	"fmt"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// jobPrinter prints a list of jobs in one format.
type jobPrinter interface {
	job(store.Job) error
	page() error         // after each page but the last
	end(total int) error // after the last
}

func newJobPrinter(s *session, stuck bool, format string) jobPrinter {
	switch format {
	case "json":
		return &jobLines{s}
	case "csv":
		return &jobCSV{s: s, w: csv.NewWriter(s.out)}
	}
	return &jobTable{s: s, stuck: stuck}
}

// jobLines prints one JSON object a line.
type jobLines struct{ s *session }

func (p *jobLines) job(j store.Job) error { return writeJSON(p.s.out, newJobJSON(j)) }
func (p *jobLines) page() error           { return p.s.out.Flush() }
func (p *jobLines) end(int) error         { return nil }

// jobTable prints for people; the columns' widths fit each page.
type jobTable struct {
	s     *session
	stuck bool
	t     table
}

func (p *jobTable) job(j store.Job) error {
	if p.t.columns == nil {
		p.t.columns = jobColumns(p.stuck)
	}
	p.t.add(jobCells(j, p.stuck)...)
	return nil
}

func (p *jobTable) page() error {
	if err := p.t.write(p.s.out, p.s.screen); err != nil {
		return err
	}
	p.t = table{}
	return p.s.out.Flush()
}

func (p *jobTable) end(total int) error {
	if total == 0 {
		_, err := fmt.Fprintln(p.s.out, "no jobs")
		return err
	}
	if len(p.t.rows) == 0 {
		return nil
	}
	return p.t.write(p.s.out, p.s.screen)
}

func jobColumns(stuck bool) []column {
	columns := []column{{title: "id", least: 12, middle: true}, {title: "kind", least: 8}}
	if stuck {
		columns[1].least = 11
		return append(columns, column{title: "verdict"}, column{title: "try", right: true, drop: 3}, column{title: "stuck", right: true},
			column{title: "silent", right: true, drop: 1}, column{title: "progress", right: true, drop: 2}, column{title: "worker", least: 4})
	}
	return append(columns, column{title: "state"}, column{title: "verdict"}, column{title: "try", right: true, drop: 1},
		column{title: "since", right: true}, column{title: "last word", least: 10, soft: true, drop: 2})
}

func jobCells(j store.Job, stuck bool) []cell {
	cells := []cell{plain(j.ID), plain(j.Kind)}
	verdict := cell{actions.VerdictWords(j.Evidence), theme.OfVerdict(j.Evidence)}
	try := plain(fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts))
	if stuck {
		return append(cells, verdict, try, cell{ageOr(j.StuckFor, "-"), theme.Bad}, plain(ageOr(j.HeartbeatAge, "-")),
			plain(ageOr(j.ProgressAge, "-")), plain(orDash(j.Worker)))
	}
	state := cell{text: j.State}
	switch {
	case j.StuckFor != nil:
		state = cell{"stuck", theme.Bad}
	case j.State == string(actions.Dead):
		state.role = theme.Bad
	case j.State == string(actions.Review):
		state.role = theme.Warn
	}
	return append(cells, state, verdict, try, plain(ageColumn(j.StateAge)), plain(lastWord(j)))
}

// lastWord is the newest thing that is known of a job, in a few words.
func lastWord(j store.Job) string {
	switch {
	case j.Evidence.ReceiptID != nil:
		return "receipt " + *j.Evidence.ReceiptID
	case j.ErrorCategory != nil:
		return *masked(j.ErrorCategory)
	case j.State == string(actions.Running) && j.Worker != nil:
		return *j.Worker + ", heartbeat " + ageOr(j.HeartbeatAge, "unknown")
	case j.State == string(actions.Pending) && j.DueFor < 0:
		return "due in " + text.Duration((-j.DueFor).Truncate(time.Second))
	}
	return ""
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

// ageColumn writes an age for a column.
func ageColumn(d time.Duration) string { return text.AgeColumn(d) }
