package bench

import (
	"fmt"
	"time"
)

// judgedFrom is how many done jobs GROUP BY must go through before it is held against the
// poll, whose cost stays as it is.
const judgedFrom = 10_000_000

// judge holds the figures against what was promised. What was not measured is left out.
func (b *bench) judge() {
	at := func(name string) string {
		if t := b.tables[name]; t != nil {
			return t.Name
		}
		return ""
	}
	f := func(what, table string) Figure { return b.report.figure(what, at(table)) }
	b.ratio(fmt.Sprintf("the poll beside %s, to that beside %s", at(large), at(small)), f(poll, large), f(poll, small), 2, false)
	if g := b.ratio("GROUP BY state, to the poll beside the same jobs", f(groupBy, large), f(poll, large), 50, true); g != nil && b.Jobs < judgedFrom {
		g.Met, g.Unjudged = false, "promised from "+count(judgedFrom)+" done on"
	}
	b.ratio(fmt.Sprintf("the poll beside %s, to that beside %s", at(waiting), at(small)), f(poll, waiting), f(poll, small), 3, false)
	for _, what := range []string{stuckList, reviewList, deepPage, doneDeep, byID, byPrefix, byEffect, byReceipt, detail, tried} {
		b.below(what, f(what, large), 10*time.Millisecond)
	}
	if list := f(stuckList, stalled); list.N > 0 && b.tables[stalled].size.stuck > 10_000 {
		g := Goal{What: "the list beside " + at(stalled) + " is bounded and says so", Bound: 1, AtLeast: true}
		if list.Note == bounded {
			g.Value, g.Met = 1, true
		}
		b.report.Goals = append(b.report.Goals, g)
	}
	for _, what := range []string{claimQuiet, claimOld} {
		b.below(what, f(what, moving), 10*time.Millisecond)
	}
	b.ratio("an act, to a bare guarded UPDATE, both with their commit", f(oneAct, large), f(bareUpdate, large), 2, false)
	b.ratio("the rate of a bulk, to that of the loop", f(loop, large), f(bulk, large), 0.5, true)
}

// ratio adds a goal and returns it, nil where one of the two was not measured.
func (b *bench) ratio(what string, of, to Figure, bound float64, atLeast bool) *Goal {
	if of.N == 0 || to.N == 0 {
		return nil
	}
	value := float64(of.Median) / float64(to.Median)
	b.report.Goals = append(b.report.Goals, Goal{What: what, Value: value, Bound: bound, Unit: "x", AtLeast: atLeast,
		Met: value <= bound && !atLeast || value >= bound && atLeast})
	return &b.report.Goals[len(b.report.Goals)-1]
}

func (b *bench) below(what string, f Figure, bound time.Duration) {
	if f.N == 0 {
		return
	}
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.report.Goals = append(b.report.Goals, Goal{What: what + ", server time", Value: ms(f.Median), Bound: ms(bound), Unit: "ms", Met: f.Median < bound})
}
