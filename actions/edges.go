package actions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"jobtop/store"
)

// Edge is one way a job may change its state, and who may take it.
type Edge struct {
	From, To State
	Actor    Actor
	Note     string
}

func (e Edge) String() string { return fmt.Sprintf("%s to %s (%s)", e.From, e.To, e.Actor) }

// The one place in Go. The database's is jobtop.edges; CompareEdges compares the two.
var edges = []Edge{
	{Pending, Running, Worker, "claim"},
	{Failed, Running, Worker, "claim, once run_at has come"},
	{Running, Done, Worker, "complete, with the receipt"},
	{Running, Failed, Worker, "certainly did not happen, attempts are left"},
	{Running, Dead, Worker, "certainly did not happen, no attempts are left or the refusal is final"},
	{Running, Review, Worker, "the effect had begun and its outcome is unknown"},
	{Running, Pending, Operator, "requeue, only while stuck"},
	{Running, Review, Operator, "hold while stuck, or stop while alive"},
	{Running, Done, Operator, "done by hand, only while stuck"},
	{Running, Dead, Operator, "give up, only while stuck"},
	{Pending, Review, Operator, "hold"},
	{Pending, Done, Operator, "done by hand"},
	{Pending, Dead, Operator, "cancel"},
	{Failed, Review, Operator, "hold"},
	{Failed, Done, Operator, "done by hand"},
	{Failed, Dead, Operator, "cancel"},
	{Failed, Pending, Operator, "requeue"},
	{Review, Pending, Operator, "requeue"},
	{Review, Done, Operator, "it did happen after all"},
	{Review, Dead, Operator, "give up"},
	{Dead, Pending, Operator, "requeue"},
	{Dead, Done, Operator, "it did happen after all"},
}

// Edges lists every edge.
func Edges() []Edge { return slices.Clone(edges) }

// HasEdge reports whether an actor may take a job from one state to another.
func HasEdge(from, to State, actor Actor) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool { return e.From == from && e.To == to && e.Actor == actor })
}

// Prove walks the edges and returns an error that names each edge or state at fault:
// an edge between states that are not declared, a state that cannot be reached from
// pending, a way out of done, a state from which done or dead is out of reach. The
// program calls it before it does anything else.
func Prove() error { return prove(States(), edges) }

func prove(states []State, edges []Edge) error {
	var faults []error
	fault := func(format string, arguments ...any) { faults = append(faults, fmt.Errorf(format, arguments...)) }

	seen := map[Edge]bool{}
	for _, e := range edges {
		for _, s := range []State{e.From, e.To} {
			if !slices.Contains(states, s) {
				fault("edge %s: %q is no declared state", e, s)
			}
		}
		switch {
		case e.Actor != Worker && e.Actor != Operator:
			fault("edge %s: %q is no declared actor", e, e.Actor)
		case e.From == e.To:
			fault("edge %s goes nowhere", e)
		case e.From == Done:
			fault("edge %s leads out of done, which is final", e)
		}
		key := Edge{From: e.From, To: e.To, Actor: e.Actor}
		if seen[key] {
			fault("edge %s is there twice", e)
		}
		seen[key] = true
	}

	fromPending := reach(edges, Pending)
	for _, s := range states {
		if !fromPending[s] {
			fault("state %s cannot be reached from pending", s)
		}
		if s == Done {
			continue
		}
		onward := reach(edges, s)
		for _, end := range []State{Done, Dead} {
			if !onward[end] {
				fault("state %s cannot reach %s any more", s, end)
			}
		}
	}
	return errors.Join(faults...)
}

// reach returns the states that a walk from start comes to, start included.
func reach(edges []Edge, start State) map[State]bool {
	seen := map[State]bool{start: true}
	for queue := []State{start}; len(queue) > 0; queue = queue[1:] {
		for _, e := range edges {
			if e.From == queue[0] && !seen[e.To] {
				seen[e.To] = true
				queue = append(queue, e.To)
			}
		}
	}
	return seen
}

// CompareEdges compares the database's edges with this program's. The error says in
// words which differ; acting on that database would be acting on other rules, so the
// console stays read-only and shows it.
func CompareEdges(database []store.Edge) error {
	ours := map[store.Edge]bool{}
	for _, e := range edges {
		ours[store.Edge{From: string(e.From), To: string(e.To), Actor: string(e.Actor)}] = true
	}
	var extra []string
	for _, e := range database {
		if !ours[e] {
			extra = append(extra, fmt.Sprintf("%s to %s (%s)", e.From, e.To, e.Actor))
		}
		delete(ours, e)
	}
	var missing []string
	for e := range ours {
		missing = append(missing, fmt.Sprintf("%s to %s (%s)", e.From, e.To, e.Actor))
	}
	slices.Sort(extra)
	slices.Sort(missing)
	var differ []string
	if len(extra) > 0 {
		differ = append(differ, "it also has "+strings.Join(extra, ", "))
	}
	if len(missing) > 0 {
		differ = append(differ, "it lacks "+strings.Join(missing, ", "))
	}
	if len(differ) == 0 {
		return nil
	}
	return errors.New("the database's edges are not this program's: " + strings.Join(differ, "; "))
}
