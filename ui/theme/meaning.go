package theme

import (
	"jobtop/actions"
	"jobtop/store"
)

// OfVerdict is how a verdict looks.
func OfVerdict(e store.Evidence) Role {
	switch e.Verdict {
	case store.VerdictHappened:
		return Good
	case store.VerdictMayHaveHappened, store.VerdictNotKnown:
		return Warn
	}
	return Info
}

// OfWeight is how an event of a job's story looks.
func OfWeight(w actions.Weight) Role {
	switch w {
	case actions.Happened:
		return Good
	case actions.Doubtful:
		return Warn
	case actions.Silence:
		return Bad
	case actions.ByHand:
		return Info
	case actions.WithoutEffect:
		return Dim
	case actions.Ordinary:
	}
	return Plain
}
