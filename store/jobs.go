package store

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// JobQuery says which jobs to list, and in which order.
//
// Conditions on one field are alternatives, those on different fields must all hold;
// inverted ones, and ages, must all hold whatever their field. Without a condition that
// names a key (an id, an id prefix, an effect key, a receipt ID) or the state done, the
// open jobs are searched: those in any state but done.
type JobQuery struct {
	// Stuck lists only running jobs past their own limit, the worst first unless another
	// Order is asked for.
	Stuck      bool
	Conditions []Condition
	Order      Order
	// After is the Next of the page before, "" for the first.
	After string
	// Limit is the number of jobs wanted, 50 if zero, at most PageLimit.
	Limit int
}

// Condition is one term of a filter.
type Condition struct {
	// Field is state, kind, worker, error (its category), verdict, version (of the
	// source), id, effect, receipt or age.
	Field string
	// Value is compared whole. An id takes a prefix when it ends in *; an age is a
	// duration such as 90s, 10m or 2d, for jobs in their state for longer than that. An
	// empty worker, error or version is one that is not recorded.
	Value string
	// Not inverts the condition.
	Not bool
}

// Order is the order of a list.
type Order string

// The orders. Empty is the natural one of a query: oldest first, the worst first of
// stuck jobs, the newest first of done ones, by id of an id prefix.
const (
	OldestFirst Order = "oldest" // longest in its state
	NewestFirst Order = "newest"
	ByID        Order = "id"
	WorstFirst  Order = "worst" // stuck jobs only: longest past its limit
)

// JobPage is one page of a list.
type JobPage struct {
	Jobs  []Job
	Order Order // the one they are in
	// Next is the cursor of the next page, "" at the end.
	Next string
	// Limited: the bound on the rows examined was reached before the page was full. With
	// a Next the search goes on from there; without one the rest is out of its reach.
	Limited bool
}

// The bounds of a list, in rows.
const (
	// PageLimit is the largest page.
	PageLimit = 1_000
	// ScanBound: so many jobs are examined for one page.
	ScanBound = 10_000
	// VerdictBound: so many are examined where their evidence has to be read.
	VerdictBound = 1_000
)

// Jobs lists a page of jobs. Paging by Next skips no job and repeats none that stays as
// it was.
func (db *DB) Jobs(ctx context.Context, q JobQuery) (JobPage, error) {
	s, err := newSearch(q)
	if err != nil {
		return JobPage{}, err
	}
	page := JobPage{Order: s.order}
	if len(s.states) == 0 {
		return page, nil
	}
	var end position
	var more bool
	statements := []statement{{sql: s.sql(), arguments: s.arguments(), rows: each(func(row pgx.Rows) error {
		if len(page.Jobs) == s.limit {
			more = true // one more than was asked for
			return nil
		}
		job, found, err := scanJob(row)
		if err != nil {
			return err
		}
		if found.listed {
			page.Jobs = append(page.Jobs, job)
		}
		if found.last && !s.sorted {
			more, page.Limited = true, len(page.Jobs) < s.limit
		}
		end = found.position
		return nil
	})}}
	var examined int64
	if s.sorted && s.scan != "jobs_scan_keys" {
		statements = append(statements, statement{sql: query("jobs_examined"), arguments: s.arguments(),
			rows: one(func(row pgx.Rows) error { return row.Scan(&examined) })})
	}
	if _, err := db.read(ctx, "list jobs", statements...); err != nil {
		return JobPage{}, err
	}
	if examined > s.bound {
		page.Limited = true
	}
	if more {
		page.Next = end.write(s.mark())
	}
	return page, nil
}

// Row reads one job as a list shows it. The error of an unknown id is ErrNotFound.
func (db *DB) Row(ctx context.Context, id string) (Job, error) {
	var job Job
	if _, err := db.read(ctx, "read the job", jobRow(id, ErrorDetailLimit, &job)); err != nil {
		return Job{}, err
	}
	return job, missing(id, job)
}

// jobRow reads one job, its error cut to a number of characters. An unknown id leaves
// the job empty.
func jobRow(id string, errorLimit int, into *Job) statement {
	return statement{
		// With the id itself the planner knows how many attempts the job has.
		sql: "WITH found AS MATERIALIZED (" + part("job_found") + ")\n" +
			strings.Replace(query("jobs_rows"), "jobtop.evidence(f.id)", "jobtop.evidence(@id::text)", 1),
		arguments: pgx.NamedArgs{"id": storable(id), "error_limit": errorLimit},
		rows: one(func(row pgx.Rows) (err error) {
			*into, _, err = scanJob(row)
			return err
		}),
	}
}

func missing(id string, job Job) error {
	if job.ID != "" {
		return nil
	}
	return &Problem{What: "there is no job " + quote(id), Next: "ids are told apart to the letter; jobtop list finds them by prefix", kind: ErrNotFound}
}

// part is a statement to be put into another one.
func part(name string) string { return strings.TrimRight(query(name), "; \n") }

// found is what a row says about the scan that found it.
type found struct {
	position
	listed bool // it is part of the page
	last   bool // the scan reached its bound with it
}

// scanJob reads a row of sql/jobs_rows.sql.
func scanJob(row pgx.Rows) (j Job, f found, err error) {
	var kind, state, effectKey *string
	var version *int64
	var attempt, maxAttempts *int
	var due, claimed, heartbeat, timeout, progress, progressTimeout, effect, created, inState, stuck *int64
	var verdict *string
	var proofEffect, recorded *int64
	err = row.Scan(&f.key, &f.at, &f.id, &f.listed, &f.last,
		&kind, &state, &version, &attempt, &maxAttempts, &due, &j.LockToken, &j.Worker, &claimed, &heartbeat,
		&timeout, &j.Progress, &progress, &progressTimeout, &effectKey, &effect, &j.ErrorCategory, &j.ErrorDetail,
		&j.SourceVersion, &created, &inState, &stuck,
		&verdict, &j.Evidence.Attempt, &proofEffect, &j.Evidence.ReceiptID, &j.Evidence.RecordedBy, &recorded, &j.Evidence.Late)
	if err != nil || !f.listed {
		return Job{}, f, err
	}
	j.ID, j.Kind, j.State, j.EffectKey, j.Evidence.Verdict = f.id, *kind, *state, *effectKey, *verdict
	j.Version, j.Attempt, j.MaxAttempts = *version, *attempt, *maxAttempts
	j.DueFor, j.HeartbeatTimeout, j.CreatedAge, j.StateAge = span(due), span(timeout), span(created), span(inState)
	j.ClaimedAge, j.HeartbeatAge, j.ProgressAge, j.EffectAge = micros(claimed), micros(heartbeat), micros(progress), micros(effect)
	j.ProgressTimeout, j.StuckFor = micros(progressTimeout), micros(stuck)
	j.Evidence.EffectAge, j.Evidence.RecordedAge = micros(proofEffect), micros(recorded)
	return j, f, nil
}

// span is a number of microseconds; none is 0.
func span(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Microsecond
}
