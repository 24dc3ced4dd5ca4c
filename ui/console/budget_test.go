package console

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// spend lets a budget know of a read at a moment.
func (b *budget) spend(now time.Time, name string, want, cost time.Duration) {
	b.charge(now, b.before+cost)
	b.read(name, want, cost)
}

func TestBudgetPace(t *testing.T) {
	type costs []int // of looks, and of the overview, in milliseconds
	for name, c := range map[string]struct {
		looks, overviews costs
		consoles         int
		look, overview   time.Duration
	}{
		"cheap":                 {costs{5, 5}, costs{30, 30}, 1, 2 * time.Second, 10 * time.Second},
		"cold start":            {costs{190}, costs{400}, 1, 2 * time.Second, 10 * time.Second},
		"one outlier":           {costs{8, 100}, costs{30, 200}, 1, 2 * time.Second, 10 * time.Second},
		"dear":                  {costs{120, 120}, costs{0, 0}, 1, 12 * time.Second, 10 * time.Second},
		"a dear overview alone": {costs{5, 5}, costs{250, 250}, 1, 2 * time.Second, 40 * time.Second},
		"a dear look alone":     {costs{120, 120}, costs{20, 20}, 1, 15 * time.Second, 10 * time.Second},
		"both dear":             {costs{50, 50}, costs{250, 250}, 1, 10 * time.Second, 50 * time.Second},
		"three consoles":        {costs{8, 8}, costs{0, 0}, 3, 3 * time.Second, 10 * time.Second},
		"far too dear":          {costs{9000, 9000}, costs{0, 0}, 1, mostWait, 10 * time.Second},
	} {
		b := budget{consoles: c.consoles}
		now := time.Unix(0, 0)
		for _, cost := range c.looks {
			b.spend(now, beatLook, 2*time.Second, time.Duration(cost)*ms)
		}
		for _, cost := range c.overviews {
			b.spend(now, beatOverview, 10*time.Second, time.Duration(cost)*ms)
		}
		if got := b.every(beatLook, 2*time.Second); got != c.look {
			t.Errorf("%s: a look every %v, want %v", name, got, c.look)
		}
		if got := b.every(beatOverview, 10*time.Second); got != c.overview {
			t.Errorf("%s: an overview every %v, want %v", name, got, c.overview)
		}
	}
}

func TestBudgetRoom(t *testing.T) {
	var b budget
	now := time.Unix(0, 0)
	for range 5 {
		b.spend(now, beatLook, time.Second, 100*ms)
		now = now.Add(time.Second)
	}
	if got := b.room(now, beatLook); got != 0 {
		t.Errorf("500 of 600 ms are spent, and there is no room for 100 for %v", got)
	}
	b.charge(now, b.before+150*ms) // something else, by hand
	if got, want := b.room(now, beatLook), 56*time.Second; got != want {
		t.Errorf("650 of 600 ms are spent, and there is room after %v, want %v", got, want)
	}
	// What no minute has room for comes as seldom as its share allows.
	b = budget{}
	b.spend(now, beatLook, time.Second, 900*ms)
	if got, want := b.room(now, beatLook), 90*time.Second; got != want {
		t.Errorf("after 900 ms there is room after %v, want %v", got, want)
	}
}

func TestBudgetSaysWhy(t *testing.T) {
	b := budget{consoles: 3}
	b.spend(time.Unix(0, 0), beatLook, 2*time.Second, 41*ms)
	b.spend(time.Unix(9, 0), beatLook, 2*time.Second, 40*ms)
	if got, want := b.why(beatLook, "a look", b.every(beatLook, 2*time.Second)), "every 12s: a look costs 40ms and the budget is 1 % of one core for 3 consoles"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Over any minute all reading keeps within the share and a tenth of it, whatever is read,
// by beat or by hand, unless one read alone is more: the one that nobody could foresee,
// and one that costs more than a minute's share, which then has the minute to itself.
func TestBudgetHoldsOverEveryMinute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := budget{consoles: rapid.IntRange(1, 4).Draw(t, "consoles")}
		allowance := time.Duration(b.own() * float64(budgetWindow))
		refresh := time.Duration(rapid.IntRange(500, 5000).Draw(t, "refresh")) * ms
		usual := map[string]time.Duration{
			beatLook:     time.Duration(rapid.IntRange(1, 300).Draw(t, "look")) * ms,
			beatOverview: time.Duration(rapid.IntRange(1, 300).Draw(t, "overview")) * ms,
		}
		byHand := rapid.IntRange(1, 60).Draw(t, "seconds between looks by hand")
		var log []spending
		now := time.Unix(0, 0)
		nextLook, overviewAt := now, now.Add(-time.Hour)
		spend := func(name string, want time.Duration) {
			// A tenth more or less than usual, which is the tenth that is allowed for.
			cost := usual[name] * time.Duration(rapid.IntRange(95, 104).Draw(t, name)) / 100
			b.spend(now, name, want, cost)
			log = append(log, spending{at: now, cost: cost})
			var sum, most time.Duration
			for _, l := range log {
				if now.Sub(l.at) < budgetWindow {
					sum += l.cost
					most = max(most, l.cost)
				}
			}
			unforeseen := b.beats[name].n == 1
			if limit := allowance + allowance/10; sum > max(limit, most) && !unforeseen {
				t.Fatalf("%v within a minute, at most %v: %v", sum, limit, log)
			}
		}
		for now.Before(time.Unix(200, 0)) {
			if !now.Before(nextLook) && b.room(now, beatLook) == 0 {
				spend(beatLook, refresh)
				nextLook = now.Add(max(b.every(beatLook, refresh), b.room(now, beatLook)))
			}
			if now.Sub(overviewAt) >= b.every(beatOverview, 10*time.Second) && b.room(now, beatOverview) == 0 {
				spend(beatOverview, 10*time.Second)
				overviewAt = now
			}
			if int(now.Unix())%byHand == 0 && b.room(now, beatLook, beatOverview) == 0 {
				spend(beatLook, refresh)
				spend(beatOverview, 10*time.Second)
				overviewAt = now
			}
			now = now.Add(500 * ms)
		}
	})
}
