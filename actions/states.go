// Package actions is what may happen to a job: its states and the edges between them,
// what the record proves about its effect, what an operator may do about it, and the
// runner that does it exactly once or says plainly that it did not.
package actions

import "slices"

// State is where a job stands. A job is in exactly one.
type State string

// The states.
const (
	Pending State = "pending" // waits to be claimed
	Running State = "running" // claimed, under a lock token
	Failed  State = "failed"  // certainly did not happen; tried again later
	Review  State = "review"  // a person has to look
	Done    State = "done"    // happened, with a receipt; final
	Dead    State = "dead"    // given up
)

// States lists all states in the order in which jobtop shows them.
func States() []State { return []State{Pending, Running, Failed, Review, Done, Dead} }

// Known reports whether s is a declared state.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Actor is who takes an edge.
type Actor string

// The actors.
const (
	Worker   Actor = "worker"
	Operator Actor = "operator"
)
