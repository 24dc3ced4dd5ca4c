package actions

import (
	"testing"

	"jobtop/store"
)

// TestDiagnose: every contradiction is explained, in each state that it can be found in,
// and a verb is suggested only where it can be used.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	receipt, last := "ch_1", 1
	for problem, states := range map[string][]State{
		store.DoneWithoutReceipt:    {Done},
		store.ReceiptWithoutDone:    {Pending, Running, Failed, Review, Dead},
		store.RunningWithoutAttempt: {Running},
		store.AttemptLeftOpen:       {Pending, Failed, Review, Done, Dead},
		store.AttemptsOutOfStep:     {Pending, Failed, Review, Done, Dead},
		store.StateUnexplained:      States(),
	} {
		for _, state := range states {
			d := Diagnose(store.Contradiction{JobID: "j", Kind: "k", State: string(state), Attempt: 2, Problem: problem, Explained: "pending", ReceiptID: &receipt, LastAttempt: &last})
			if d.What == "" || d.Mend == "" {
				t.Errorf("%s, %s: %+v", problem, state, d)
			}
			if d.Verb != "" && !HasEdge(state, d.Verb.Target(), Operator) {
				t.Errorf("%s, %s: %s leads nowhere from there", problem, state, d.Verb)
			}
		}
	}
}
