package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// search is a JobQuery, checked and brought into the form of the statements.
type search struct {
	query   JobQuery
	order   Order
	limit   int
	states  []string
	terms   map[string]*terms
	older   time.Duration // in the state for longer than that
	younger time.Duration // and not for longer than that

	scan   string // the statement that finds rows by an index
	sorted bool   // its rows are brought into another order
	bound  int64
	key    string // the field whose values scan_keys looks up
	prefix string // of ids, where the scan goes by one
	after  position
}

// terms are the conditions on one field.
type terms struct{ is, not []string }

// A lifetime is longer than any job's age, and leaves room for a clock that went back.
const lifetime = 100 * 365 * 24 * time.Hour

var openStates = []string{"pending", "running", "failed", "review", "dead"}
var verdicts = []string{VerdictHappened, VerdictMayHaveHappened, VerdictNotKnown, VerdictDidNotHappen, VerdictNeverStarted}

func newSearch(q JobQuery) (*search, error) {
	s := &search{query: q, order: q.Order, limit: q.Limit, bound: ScanBound, older: -lifetime, younger: lifetime, terms: map[string]*terms{}}
	for _, field := range []string{"state", "kind", "worker", "error", "verdict", "version", "id", "effect", "receipt"} {
		s.terms[field] = &terms{is: []string{}, not: []string{}}
	}
	switch q.Order {
	case "", OldestFirst, NewestFirst, ByID, WorstFirst:
	default:
		return nil, badQuery(fmt.Sprintf("there is no order %s", quote(string(q.Order))), "the orders are oldest, newest, id and, for stuck jobs, worst")
	}
	if s.limit <= 0 {
		s.limit = 50
	}
	s.limit = min(s.limit, PageLimit)
	for _, c := range q.Conditions {
		if err := s.add(c); err != nil {
			return nil, err
		}
	}
	if err := s.plan(); err != nil {
		return nil, err
	}
	if len(s.terms["verdict"].is)+len(s.terms["verdict"].not) > 0 {
		s.bound = VerdictBound
	}
	return s, s.resume(q.After)
}

func (s *search) add(c Condition) error {
	value := storable(c.Value)
	switch c.Field {
	case "age":
		age, err := parseAge(value)
		if err != nil {
			return err
		}
		if c.Not {
			s.younger = min(s.younger, age)
		} else {
			s.older = max(s.older, age)
		}
		return nil
	case "state":
		if value != "done" && !slices.Contains(openStates, value) {
			return badQuery(fmt.Sprintf("there is no state %s", quote(c.Value)), "the states are pending, running, failed, review, done and dead")
		}
	case "verdict":
		if !slices.Contains(verdicts, value) {
			return badQuery(fmt.Sprintf("there is no verdict %s", quote(c.Value)), "the verdicts are "+strings.Join(verdicts, ", "))
		}
	}
	t := s.terms[c.Field]
	if t == nil {
		return badQuery(fmt.Sprintf("there is no field %s to filter by", quote(c.Field)),
			"the fields are state, kind, worker, error, verdict, version, id, effect, receipt and age")
	}
	if c.Not {
		t.not = append(t.not, value)
	} else {
		t.is = append(t.is, value)
	}
	return nil
}

// plan chooses the scan: the index that the rows are found by.
func (s *search) plan() error {
	state := s.terms["state"]
	asked := state.is
	ids := s.terms["id"].is
	prefixes := slices.ContainsFunc(ids, isPrefix)
	switch {
	case len(s.terms["receipt"].is) > 0:
		s.key = "receipt"
	case len(s.terms["effect"].is) > 0:
		s.key = "effect"
	case len(ids) > 0 && !prefixes:
		s.key = "id"
	}
	openAsked := s.query.Stuck || (len(asked) > 0 && !slices.Contains(asked, "done"))
	byPrefix := s.key == "" && prefixes && !openAsked

	switch {
	case len(asked) > 0:
		s.states = asked
	case s.key != "" || byPrefix:
		s.states = append(slices.Clone(openStates), "done")
	default:
		s.states = slices.Clone(openStates)
	}
	s.states = slices.DeleteFunc(slices.Clone(s.states), func(name string) bool {
		return slices.Contains(state.not, name) || (s.query.Stuck && name != "running")
	})
	if s.order == WorstFirst && !s.query.Stuck {
		return unserved("only stuck jobs can be listed by how long they are past their limit", "list the stuck jobs, or sort by time in the state")
	}

	switch {
	case s.key != "":
		s.scan, s.sorted = "jobs_scan_keys", true
		s.order = s.natural(OldestFirst)
	case byPrefix:
		if len(ids) > 1 {
			return unserved("only one id prefix can be searched at a time", "name a state besides, or search for one after the other")
		}
		if s.order != "" && s.order != ByID {
			return unserved("jobs found by an id prefix are listed by id", "sort by id, or name a state besides")
		}
		s.scan, s.prefix, s.order = "jobs_scan_prefix", strings.TrimSuffix(ids[0], "*"), ByID
	case slices.Contains(s.states, "done") && len(s.states) > 1:
		return unserved("done jobs are listed by themselves", "filter by state:done alone, or leave it out")
	case slices.Contains(s.states, "done"):
		if s.order == ByID {
			return unserved("done jobs are listed by time, as no index holds them by id alone", "sort by time, or filter by id:PREFIX* or id:*")
		}
		s.order = s.natural(NewestFirst)
		s.scan = "jobs_scan_done_" + string(s.order)
	default:
		s.order = s.natural(OldestFirst)
		s.scan = "jobs_scan_state_oldest"
		s.sorted = s.order == ByID || s.order == WorstFirst
		if s.order == NewestFirst {
			s.scan = "jobs_scan_state_newest"
		}
	}
	return nil
}

// natural is the order asked for, or else the one that fits.
func (s *search) natural(order Order) Order {
	switch {
	case s.order != "":
		return s.order
	case s.query.Stuck:
		return WorstFirst
	}
	return order
}

func (s *search) sql() string {
	order := "jobs_order_scan"
	if s.sorted {
		order = "jobs_order_sort"
	}
	return "WITH scanned AS NOT MATERIALIZED (" + s.scanned() + "),\nordered AS NOT MATERIALIZED (" + part(order) +
		"),\nfound AS MATERIALIZED (" + part("jobs_found") + ")\n" + query("jobs_rows")
}

// scanned is the scan, of the states one by one where it is one of states.
func (s *search) scanned() string {
	order := "o.at, o.id"
	switch s.scan {
	default:
		return part(s.scan)
	case "jobs_scan_state_newest":
		order = "o.at DESC, o.id DESC"
	case "jobs_scan_state_oldest":
	}
	arms := make([]string, 0, len(s.states))
	for _, state := range s.states {
		arms = append(arms, "("+strings.ReplaceAll(part(s.scan), "@state::", "@"+state+"::")+")")
	}
	return "SELECT o.* FROM (" + strings.Join(arms, "\nUNION ALL\n") + ") o ORDER BY " + order + " LIMIT (SELECT @bound::bigint)"
}

func (s *search) arguments() pgx.NamedArgs {
	afterAt, afterID := "-infinity", ""
	if strings.HasSuffix(s.scan, "_newest") {
		afterAt = "infinity"
	}
	sortKey, sortID := int64(math.MinInt64), ""
	switch {
	case s.after == (position{}):
	case s.sorted:
		sortKey, sortID = s.after.key, s.after.id
	default:
		afterAt, afterID = timestamp(s.after.at), s.after.id
	}
	arguments := pgx.NamedArgs{
		"states": s.states, "stuck": s.query.Stuck, "bound": s.bound, "limit": s.limit, "order": string(s.order), "error_limit": ErrorDetailLimit,
		"after_at": afterAt, "after_id": afterID, "sort_key": sortKey, "sort_id": sortID,
		"older_than": s.older.Microseconds(), "younger_than": s.younger.Microseconds(), "pattern": likePrefix(s.prefix),
		"key_ids": []string{}, "key_effects": []string{}, "key_receipts": []string{},
		"ids": patterns(s.terms["id"].is), "not_ids": patterns(s.terms["id"].not),
	}
	for _, field := range []string{"kind", "worker", "error", "version", "effect", "receipt", "verdict"} {
		arguments[field+"s"], arguments["not_"+field+"s"] = s.terms[field].is, s.terms[field].not
	}
	for _, state := range s.states {
		arguments[state] = state
	}
	if s.key != "" {
		arguments["key_"+s.key+"s"] = s.terms[s.key].is
	}
	return arguments
}

// timestamp writes microseconds since 1970 for the database, exactly.
func timestamp(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000000Z")
}

func isPrefix(id string) bool { return strings.HasSuffix(id, "*") }

// patterns are LIKE patterns of ids, some of them prefixes.
func patterns(ids []string) []string {
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		if isPrefix(id) {
			list = append(list, likePrefix(strings.TrimSuffix(id, "*")))
		} else {
			list = append(list, escapeLike(id))
		}
	}
	return list
}

func likePrefix(prefix string) string { return escapeLike(prefix) + "%" }

func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

func badQuery(what, next string) error { return &Problem{What: what, Next: next, kind: ErrBadQuery} }
func unserved(what, next string) error { return &Problem{What: what, Next: next, kind: ErrUnserved} }
