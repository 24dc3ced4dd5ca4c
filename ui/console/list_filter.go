package console

import (
	"slices"
	"strings"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/filter"
)

// completeFilter proposes what the last term of a filter may become.
func completeFilter(line string) []string {
	cut := strings.LastIndexAny(line, " ") + 1
	head, term := line[:cut], line[cut:]
	if strings.HasPrefix(term, "!") {
		head, term = head+"!", term[1:]
	}
	field, value, valued := strings.Cut(term, ":")
	var words []string
	switch {
	case !valued:
		for _, f := range filter.Fields() {
			if f == "age" {
				words = append(words, "age>")
			} else {
				words = append(words, f+":")
			}
		}
	case field == "state":
		for _, s := range actions.States() {
			words = append(words, "state:"+string(s))
		}
	case field == "verdict":
		for _, v := range []string{store.VerdictHappened, store.VerdictMayHaveHappened, store.VerdictNotKnown, store.VerdictDidNotHappen, store.VerdictNeverStarted} {
			words = append(words, "verdict:"+v)
		}
	}
	var offers []string
	for _, w := range words {
		if strings.HasPrefix(w, term) && w != field+":"+value {
			offers = append(offers, head+w)
		}
	}
	return offers
}

// matches reports whether a job that was read meets conditions, as the store would judge.
func matches(j store.Job, conditions []store.Condition) bool {
	alternatives := map[string]bool{}
	for _, c := range conditions {
		holds := holds(j, c)
		switch {
		case c.Field == "age" || c.Not:
			if holds == c.Not {
				return false
			}
		default:
			alternatives[c.Field] = alternatives[c.Field] || holds
		}
	}
	for _, any := range alternatives {
		if !any {
			return false
		}
	}
	return true
}

// holds judges one condition without its Not.
func holds(j store.Job, c store.Condition) bool {
	switch c.Field {
	case "state":
		return j.State == c.Value
	case "kind":
		return j.Kind == c.Value
	case "worker":
		return str(j.Worker) == c.Value
	case "error":
		return str(j.ErrorCategory) == c.Value
	case "verdict":
		return j.Evidence.Verdict == c.Value
	case "version":
		return str(j.SourceVersion) == c.Value
	case "effect":
		return j.EffectKey == c.Value
	case "receipt":
		return str(j.Evidence.ReceiptID) == c.Value
	case "id":
		if prefix, ok := strings.CutSuffix(c.Value, "*"); ok {
			return strings.HasPrefix(j.ID, prefix)
		}
		return j.ID == c.Value
	case "age":
		limit, err := filter.ParseAge(c.Value)
		return err == nil && j.StateAge > limit
	}
	return false
}

// with is a filter expression with one more condition, in place of those on its field.
func with(conditions []store.Condition, c store.Condition) string {
	kept := slices.DeleteFunc(slices.Clone(conditions), func(other store.Condition) bool {
		return other.Field == c.Field && !other.Not
	})
	return filter.Format(append(kept, c))
}
