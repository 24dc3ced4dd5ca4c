package demo

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Trouble comes to any worker but one that is spared, and never to the last that is well.
func TestTroubleSpares(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	f := &fleet{members: []*member{{name: "w-1"}, {name: "w-2"}, {name: "w-3", frozen: true}, {name: "w-4"}}}
	picks := func(spared map[string]bool) []string {
		picked := map[string]bool{}
		for range 200 {
			picked[f.pick(dice, spared, func(*member) {})] = true
		}
		return slices.Sorted(maps.Keys(picked))
	}
	for _, c := range []struct {
		spared map[string]bool
		want   []string
	}{
		{nil, []string{"w-1", "w-2", "w-4"}},
		{map[string]bool{"w-2": true}, []string{"w-1", "w-4"}},
		{map[string]bool{"w-1": true, "w-2": true, "w-4": true}, []string{""}},
	} {
		if got := picks(c.spared); !slices.Equal(got, c.want) {
			t.Errorf("spared %v: picked %q, want %q", c.spared, got, c.want)
		}
	}
	f.members[0].frozen, f.members[1].frozen = true, true
	if got := picks(nil); !slices.Equal(got, []string{""}) {
		t.Errorf("the last that is well was picked: %q", got)
	}
}
