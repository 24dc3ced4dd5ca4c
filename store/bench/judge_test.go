package bench

import (
	"testing"
	"time"
)

// GROUP BY is held against the poll only beside as many jobs as the promise names.
func TestJudgeGroupBy(t *testing.T) {
	for _, c := range []struct {
		jobs       int64
		took       time.Duration // of GROUP BY, where the poll takes 10 ms
		met, whole bool          // the goal, and the report
		judged     bool
	}{
		{20_000, 20 * time.Millisecond, false, true, false},
		{1_000_000, 100 * time.Millisecond, false, true, false},
		{9_999_999, time.Second, false, true, false},
		{10_000_000, time.Second, true, true, true},
		{10_000_000, 400 * time.Millisecond, false, false, true},
	} {
		b := &bench{Options: Options{Jobs: c.jobs}, report: &Report{}, tables: map[string]*table{large: {Table: Table{Name: "large"}}}}
		for what, took := range map[string]time.Duration{poll: 10 * time.Millisecond, groupBy: c.took} {
			b.report.Figures = append(b.report.Figures, Figure{What: what, Beside: "large", N: 1, Median: took})
		}
		b.judge()
		if len(b.report.Goals) != 1 {
			t.Fatalf("%d: %+v", c.jobs, b.report.Goals)
		}
		g := b.report.Goals[0]
		if g.Met != c.met || (g.Unjudged == "") != c.judged || b.report.Met() != c.whole || g.Value != float64(c.took)/float64(10*time.Millisecond) {
			t.Errorf("%d done, %v: %+v, all met %t", c.jobs, c.took, g, b.report.Met())
		}
	}
}
