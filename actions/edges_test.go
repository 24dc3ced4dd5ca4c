package actions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jobtop/store"
)

func TestSeedsWalkAtStart(t *testing.T) {
	if err := Prove(); err != nil {
		t.Fatal(err)
	}
}

func TestSeedsDoneHasNoWayOut(t *testing.T) {
	for _, e := range Edges() {
		if e.From == Done {
			t.Errorf("%s leads out of done", e)
		}
	}
	for _, to := range States() {
		for _, by := range []Actor{Worker, Operator} {
			with := append(Edges(), Edge{Done, to, by, "resurrect"})
			mustFault(t, prove(States(), with), fmt.Sprintf("edge done to %s (%s)", to, by))
		}
	}
}

func TestSeedsAllStatesReachable(t *testing.T) {
	reached := reach(edges, Pending)
	for _, s := range States() {
		if !reached[s] {
			t.Errorf("%s cannot be reached from pending", s)
		}
	}
	if len(reached) != len(States()) {
		t.Errorf("the walk came to %v, which are not all declared", reached)
	}
}

// Each kind of mistake that a change of the edges could make is caught, and named.
func TestSeedsWalkCatchesEveryMistake(t *testing.T) {
	open := slices.DeleteFunc(States(), func(s State) bool { return s == Done })
	mistakes := map[string]func(*rapid.T) ([]State, []Edge, string){
		"state not declared": func(t *rapid.T) ([]State, []Edge, string) {
			ghost := State(rapid.StringMatching(`ghost[a-z]{0,5}`).Draw(t, "ghost"))
			e := Edge{rapid.SampledFrom(open).Draw(t, "from"), ghost, Operator, ""}
			if rapid.Bool().Draw(t, "reversed") {
				e.From, e.To = e.To, e.From
			}
			return States(), insert(t, e), fmt.Sprintf("%q is no declared state", ghost)
		},
		"actor not declared": func(t *rapid.T) ([]State, []Edge, string) {
			e := Edge{Review, Dead, Actor(rapid.StringMatching(`x[a-z]{0,5}`).Draw(t, "actor")), ""}
			return States(), insert(t, e), fmt.Sprintf("%q is no declared actor", e.Actor)
		},
		"way out of done": func(t *rapid.T) ([]State, []Edge, string) {
			e := Edge{Done, rapid.SampledFrom(open).Draw(t, "to"), rapid.SampledFrom([]Actor{Worker, Operator}).Draw(t, "actor"), ""}
			return States(), insert(t, e), "edge " + e.String() + " leads out of done"
		},
		"goes nowhere": func(t *rapid.T) ([]State, []Edge, string) {
			s := rapid.SampledFrom(States()).Draw(t, "state")
			return States(), insert(t, Edge{s, s, Operator, ""}), fmt.Sprintf("edge %s to %s (operator) goes nowhere", s, s)
		},
		"twice": func(t *rapid.T) ([]State, []Edge, string) {
			e := rapid.SampledFrom(edges).Draw(t, "edge")
			e.Note = "again"
			return States(), insert(t, e), "edge " + e.String() + " is there twice"
		},
		"declared, but no edge leads to it": func(t *rapid.T) ([]State, []Edge, string) {
			lonely := rapid.SampledFrom(States()[1:]).Draw(t, "state")
			rest := slices.DeleteFunc(Edges(), func(e Edge) bool { return e.To == lonely })
			return States(), shuffle(t, rest), fmt.Sprintf("state %s cannot be reached from pending", lonely)
		},
		"only reached from itself": func(t *rapid.T) ([]State, []Edge, string) {
			// Two new states that lead to one another and on, but nothing leads to them.
			rest := append(Edges(), Edge{"a", "b", Worker, ""}, Edge{"b", "a", Worker, ""}, Edge{"b", Done, Worker, ""}, Edge{"a", Dead, Worker, ""})
			lost := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "state")
			return append(States(), "a", "b"), shuffle(t, rest), fmt.Sprintf("state %s cannot be reached from pending", lost)
		},
		"no way on": func(t *rapid.T) ([]State, []Edge, string) {
			trap := rapid.SampledFrom(open).Draw(t, "state")
			rest := slices.DeleteFunc(Edges(), func(e Edge) bool { return e.From == trap })
			return States(), shuffle(t, rest), fmt.Sprintf("state %s cannot reach done any more", trap)
		},
		"a circle with no way on": func(t *rapid.T) ([]State, []Edge, string) {
			rest := append(Edges(), Edge{Pending, "a", Worker, ""}, Edge{"a", "b", Worker, ""}, Edge{"b", "a", Worker, ""})
			end := rapid.SampledFrom([]string{"done", "dead"}).Draw(t, "end")
			return append(States(), "a", "b"), shuffle(t, rest), "state a cannot reach " + end + " any more"
		},
		"can only succeed": func(t *rapid.T) ([]State, []Edge, string) {
			rest := append(Edges(), Edge{Running, "a", Worker, ""}, Edge{"a", Done, Worker, ""})
			return append(States(), "a"), shuffle(t, rest), "state a cannot reach dead any more"
		},
	}
	for name, make := range mistakes {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				states, edges, want := make(t)
				mustFault(t, prove(states, edges), want)
			})
		})
	}
}

// On edges drawn at random the walk agrees with a closure computed another way.
func TestSeedsWalkAgreesWithClosure(t *testing.T) {
	edge := rapid.Custom(func(t *rapid.T) Edge {
		return Edge{rapid.SampledFrom(States()).Draw(t, "from"), rapid.SampledFrom(States()).Draw(t, "to"),
			rapid.SampledFrom([]Actor{Worker, Operator}).Draw(t, "actor"), ""}
	})
	good, bad := 0, 0
	checkUntil(t, func() bool { return good > 0 && bad > 0 }, func(t *rapid.T) {
		// Mostly the real edges, so that sound sets come up too.
		set := slices.DeleteFunc(Edges(), func(Edge) bool { return rapid.IntRange(0, 9).Draw(t, "drop") == 9 })
		set = append(set, rapid.SliceOfN(edge, 0, 2).Draw(t, "extra")...)
		if sound(set) {
			good++
		} else {
			bad++
		}
		if err := prove(States(), set); (err == nil) != sound(set) {
			t.Fatalf("the walk says %v, the closure says sound = %v", err, sound(set))
		}
	})
	if good == 0 || bad == 0 {
		t.Errorf("%d sound sets and %d others prove nothing", good, bad)
	}
}

// sound is Warshall's closure over a matrix.
func sound(edges []Edge) bool {
	states := States()
	n := len(states)
	at := func(s State) int { return slices.Index(states, s) }
	seen := map[string]bool{}
	var path [6][6]bool
	for i := range n {
		path[i][i] = true
	}
	for _, e := range edges {
		if e.From == Done || e.From == e.To || seen[e.String()] {
			return false
		}
		seen[e.String()] = true
		path[at(e.From)][at(e.To)] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				path[i][j] = path[i][j] || path[i][k] && path[k][j]
			}
		}
	}
	for i, s := range states {
		ends := s == Done || path[i][at(Done)] && path[i][at(Dead)]
		if !path[at(Pending)][i] || !ends {
			return false
		}
	}
	return true
}

func TestCompareEdges(t *testing.T) {
	same := stored(Edges())
	if err := CompareEdges(same); err != nil {
		t.Error(err)
	}
	slices.Reverse(same)
	if err := CompareEdges(same); err != nil {
		t.Error(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		all := shuffle(t, Edges())
		cut := rapid.IntRange(0, len(all)-1).Draw(t, "lacks")
		extra := Edge{Dead, Review, Operator, ""}
		err := CompareEdges(stored(append(all[cut+1:], extra)))
		mustFault(t, err, "it also has "+extra.String())
		for _, e := range all[:cut+1] {
			mustFault(t, err, e.String())
		}
		for _, e := range all[cut+1:] {
			if strings.Contains(err.Error(), e.String()) {
				t.Errorf("%q names %s, which both have", err, e)
			}
		}
	})
}

func stored(edges []Edge) []store.Edge {
	var list []store.Edge
	for _, e := range edges {
		list = append(list, store.Edge{From: string(e.From), To: string(e.To), Actor: string(e.Actor)})
	}
	return list
}

func insert(t *rapid.T, e Edge) []Edge {
	return slices.Insert(Edges(), rapid.IntRange(0, len(edges)).Draw(t, "at"), e)
}

func shuffle(t *rapid.T, edges []Edge) []Edge { return rapid.Permutation(edges).Draw(t, "order") }

func mustFault(t interface {
	Helper()
	Errorf(string, ...any)
}, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a fault that says %q", err, want)
	}
}
