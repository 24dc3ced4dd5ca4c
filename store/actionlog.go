package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ActionQuery says which actions to list; an empty field asks nothing. They come newest
// first.
type ActionQuery struct {
	JobID, Kind, Operator, Outcome string
	// Verb is one of ActionVerbs.
	Verb string
	// Since bounds their age; 0 does not.
	Since time.Duration
	// After is the Next of the page before, "" for the first.
	After string
	// Limit is the number of actions wanted, 50 if zero, at most PageLimit.
	Limit int
}

// ActionVerbs are the verbs of the log: what operators do to jobs and to kinds, a change
// made past all that, and the deletion of what is old.
func ActionVerbs() []string {
	return []string{"requeue", "done", "dead", "hold", "pause", "resume", "direct", "retention"}
}

// ActionPage is one page of the log.
type ActionPage struct {
	Actions []Action
	// Next is the cursor of the next page, "" at the end.
	Next string
	// Limited: ScanBound actions were examined before the page was full. Next goes on.
	Limited bool
}

// Actions lists a page of the log: what operators did, what they were refused, what was
// changed past them.
func (db *DB) Actions(ctx context.Context, q ActionQuery) (ActionPage, error) {
	s, err := newActionSearch(q)
	if err != nil {
		return ActionPage{}, err
	}
	if _, err := db.read(ctx, "list actions", s.statement()); err != nil {
		return ActionPage{}, err
	}
	if s.more {
		s.page.Next = s.end.write(s.mark())
	}
	return s.page, nil
}

// actionSearch is an ActionQuery, checked, and what it brings.
type actionSearch struct {
	query ActionQuery
	after position

	page ActionPage
	end  position
	more bool
}

func newActionSearch(q ActionQuery) (*actionSearch, error) {
	s := &actionSearch{query: q}
	if s.query.Limit <= 0 {
		s.query.Limit = 50
	}
	s.query.Limit = min(s.query.Limit, PageLimit)
	switch q.Outcome {
	case "", "applied", "refused", "void":
	default:
		return nil, badQuery("there is no outcome "+quote(q.Outcome), "the outcomes are applied, refused and void")
	}
	if q.Verb != "" && !slices.Contains(ActionVerbs(), q.Verb) {
		return nil, badQuery("there is no verb "+quote(q.Verb), "the verbs are "+strings.Join(ActionVerbs(), ", "))
	}
	var err error
	s.after, err = readCursor(q.After, s.mark())
	if err == nil && q.After != "" {
		if _, invalid := uuid.Parse(s.after.id); invalid != nil {
			err = badQuery("the cursor cannot be read", "pass on the one that came with the page before, or begin without one")
		}
	}
	return s, err
}

func (s *actionSearch) mark() uint64 {
	q := s.query
	return fingerprint("actions", q.JobID, q.Kind, q.Operator, q.Outcome, q.Verb, q.Since)
}

func (s *actionSearch) statement() statement {
	scan := "actions_all"
	if s.query.JobID != "" {
		scan = "actions_of_job"
	}
	afterAt, afterID := "infinity", uuid.Max.String()
	if s.query.After != "" {
		afterAt, afterID = timestamp(s.after.at), s.after.id
	}
	younger := lifetime
	if s.query.Since > 0 {
		younger = min(s.query.Since, lifetime)
	}
	return statement{
		sql: "WITH scanned AS NOT MATERIALIZED (" + part(scan) + ")\n" + query("actions_rows"),
		arguments: pgx.NamedArgs{
			"job_id": storable(s.query.JobID), "kind": storable(s.query.Kind), "operator": storable(s.query.Operator), "outcome": s.query.Outcome, "verb": s.query.Verb,
			"after_at": afterAt, "after_id": afterID, "younger_than": younger.Microseconds(), "bound": ScanBound, "limit": s.query.Limit,
		},
		rows: each(s.add),
	}
}

func (s *actionSearch) add(row pgx.Rows) error {
	if len(s.page.Actions) == s.query.Limit {
		s.more = true // one more than was asked for
		return nil
	}
	action, f, err := scanAction(row)
	if err != nil {
		return err
	}
	if f.listed {
		s.page.Actions = append(s.page.Actions, action)
	}
	if f.last {
		s.more, s.page.Limited = true, len(s.page.Actions) < s.query.Limit
	}
	s.end = f.position
	return nil
}

func scanAction(row pgx.Rows) (a Action, f found, err error) {
	var lookup *string
	var delay *int64
	var age int64
	err = row.Scan(&f.at, &a.ID, &f.listed, &f.last, &a.Verb, &a.JobID, &a.Kind, &a.FromState, &a.ToState, &a.SeenState, &a.SeenVersion, &a.Version, &a.Attempt,
		&a.LockToken, &a.Operator, &a.DBRole, &a.Client, &a.Reason, &a.Confirmations, &lookup, &a.ReceiptID, &delay, &a.Outcome, &a.Refusal, &a.At, &age)
	f.id = a.ID
	a.Lookup = jsonOf(lookup)
	a.Delay, a.Age = micros(delay), span(&age)
	return a, f, err
}
