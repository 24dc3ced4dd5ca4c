package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jobtop/store"
	"jobtop/ui/text"
)

// countExactly counts every state, telling on a terminal how far it is. The counts are nil
// where there is nothing to be shown; what is there of a count that hit its limit comes
// with the error.
func (s *session) countExactly(ctx context.Context, limit time.Duration) (*store.ExactCounts, error) {
	told := time.Time{}
	counts, err := s.db.CountExactly(ctx, limit, func(c store.Counting) {
		if now := time.Now(); now.Sub(told) >= 100*time.Millisecond {
			told = now
			s.countProgress(&c)
		}
	})
	s.countProgress(nil)
	s.log.Info("counted", "jobs", counts.Counted, "cost", counts.ServerCost, "elapsed", counts.Elapsed, "error", err)
	var problem *store.Problem
	switch {
	case err == nil:
		return &counts, nil
	case endedBy(ctx, err) != 0 && errors.As(err, &problem):
		return nil, &statusError{status: 128 + int(endedBy(ctx, err)), err: err} // it says how far it came
	case errors.Is(err, store.ErrTimeout) && counts.Counted > 0:
		return &counts, err
	}
	return nil, err
}

// countProgress rewrites one line on a terminal; nil takes it away.
func (s *session) countProgress(c *store.Counting) {
	if !isTerminal(s.stderr) {
		return
	}
	fmt.Fprint(s.stderr, "\r\x1b[K")
	if c == nil {
		return
	}
	of := ""
	if c.Expected > c.Counted {
		of = " of about " + text.Count(c.Expected)
	}
	fmt.Fprintf(s.stderr, "%s%s jobs counted, %s", text.Count(c.Counted), of, text.Duration(c.Elapsed.Truncate(100*time.Millisecond)))
}

// takeCounts puts counts in the place of a later poll's own, and lets their age be that at
// the poll's end. Of a state that was not counted to its end the poll may know more.
func takeCounts(poll *store.Poll, counts *store.ExactCounts) {
	counts.Age += poll.RoundTrip
	for i, c := range counts.States {
		own := &poll.States[i].Count
		known := own.Precision == store.Exact || own.Precision == store.Capped && own.N >= c.Count.N
		if c.Count.Precision == store.Exact || !known {
			*own = c.Count
			own.Age = counts.Age
		}
	}
	poll.ServerCost += counts.ServerCost
	poll.RoundTrip += counts.Elapsed
}

// countNote says what a count of everything found and cost.
func countNote(counts store.ExactCounts) string {
	precision, what := store.Exact, "counted at one moment"
	for _, s := range counts.States {
		if s.Count.Precision != store.Exact {
			precision, what = store.Capped, "counted as far as the time went"
		}
	}
	return fmt.Sprintf("%s jobs, %s %s ago, in %s of the server's time", text.ASCII.Measured(counts.Counted, string(precision)), what,
		text.Age(counts.Age), text.Duration(counts.ServerCost))
}
