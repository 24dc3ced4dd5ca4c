package console

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBudget(t *testing.T) {
	const least = 2 * time.Second
	for name, c := range map[string]struct {
		costs []int // one after the other, in milliseconds
		want  []time.Duration
	}{
		"cheap":        {[]int{5, 5, 5}, []time.Duration{least, least, least}},
		"cold start":   {[]int{190, 8, 8}, []time.Duration{least, least, least}},
		"dear":         {[]int{80, 80, 80}, []time.Duration{least, 8 * time.Second, 8 * time.Second}},
		"one outlier":  {[]int{8, 100, 8}, []time.Duration{least, least, least}},
		"far too dear": {[]int{700}, []time.Duration{budgetWindow}},
	} {
		var b budget
		now, spent := time.Unix(0, 0), time.Duration(0)
		for i, cost := range c.costs {
			spent += time.Duration(cost) * time.Millisecond
			wait := b.pause(now, spent, least)
			if wait != c.want[i] {
				t.Errorf("%s: after look %d the pause is %v, want %v", name, i+1, wait, c.want[i])
			}
			now = now.Add(wait)
		}
	}
}

// Over any minute the looks keep within the share, give or take the last one being
// dearer than those before it.
func TestBudgetHoldsOverEveryMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b budget
		least := time.Duration(rapid.IntRange(500, 5000).Draw(t, "refresh")) * time.Millisecond
		usual := rapid.IntRange(1, 200).Draw(t, "usual cost")
		now, spent := time.Unix(0, 0), time.Duration(0)
		var looks []spending
		for range 200 {
			cost := time.Duration(usual) * time.Millisecond
			spent += cost
			looks = append(looks, spending{now, cost})
			sum := time.Duration(0)
			for _, l := range looks {
				if now.Sub(l.at) < budgetWindow {
					sum += l.cost
				}
			}
			if limit := time.Duration(share * float64(budgetWindow)); sum > max(limit, cost) {
				t.Fatalf("%v within a minute, at most %v", sum, limit)
			}
			now = now.Add(b.pause(now, spent, least))
		}
	})
}
