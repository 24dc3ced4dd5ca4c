package actions

import (
	"fmt"

	"jobtop/store"
)

// Diagnosis puts a contradiction into words: what is wrong, and what mends it.
type Diagnosis struct {
	What string
	Mend string
	// Verb is the one that mends it, "" where none does.
	Verb Verb
}

// Diagnose explains a contradiction. Nothing is changed.
func Diagnose(c store.Contradiction) Diagnosis {
	hold := Diagnosis{Verb: VerbHold, Mend: "hold it, look what happened, then settle it by hand"}
	if !HasEdge(State(c.State), Review, Operator) {
		hold = Diagnosis{Mend: "look what happened, then settle it by hand: requeue it, or mark it done"}
	}
	switch c.Problem {
	case store.DoneWithoutReceipt:
		return Diagnosis{
			What: "it is done, and no receipt says so",
			Mend: "look the effect up; where it happened, insert its row in jobtop.receipts by hand (the guard lets a done job have one); where it did not, enqueue another job, for nothing leaves done",
		}
	case store.ReceiptWithoutDone:
		return Diagnosis{
			What: fmt.Sprintf("it has the receipt %s and is %s, not done", orNone(c.ReceiptID), c.State),
			Mend: "done, with that same receipt ID", Verb: VerbDone,
		}
	case store.RunningWithoutAttempt:
		hold.What = fmt.Sprintf("it is running attempt %d, and attempts has no such open attempt under its token", c.Attempt)
		hold.Mend, hold.Verb = "its worker's calls will not find the attempt: hold it (stop), look what happened, then settle it by hand", VerbHold
	case store.AttemptLeftOpen:
		hold.What = fmt.Sprintf("it is %s, and attempt %s never ended", c.State, number(c.LastAttempt))
	case store.AttemptsOutOfStep:
		hold.What = fmt.Sprintf("it counts %d attempts, and the last one recorded is %s", c.Attempt, number(c.LastAttempt))
	case store.StateUnexplained:
		hold.What = fmt.Sprintf("it is %s, and its last attempt or action left it %s", c.State, c.Explained)
	}
	if State(c.State) == Done {
		hold.Verb, hold.Mend = "", "nothing leaves done: keep it in mind when you read its history"
	}
	return hold
}

func number(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func orNone(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}
