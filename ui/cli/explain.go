package cli

import (
	"fmt"

	"jobtop/actions"
)

// explain says in one line what became of an order, and which flag helps where one does.
func explain(r actions.Result) string {
	r.Order.JobID = short(r.Order.JobID)
	line := actions.Explain(r)
	if hint := hintFor(r); hint != "" {
		line += " (" + hint + ")"
	}
	return line
}

// explainRecovered says what became of an order of an earlier process. A refusal is told
// as of then: what it says of the moment is over, and so is the advice.
func explainRecovered(r actions.Result) string {
	switch {
	case r.Outcome != actions.Refused:
		return explain(r)
	case r.Answer.Refusal != nil && *r.Answer.Refusal == "busy":
		return fmt.Sprintf("it was refused then: somebody else held %s; nothing was changed", short(r.Order.JobID))
	}
	r.Order.JobID = short(r.Order.JobID)
	return "it was refused then: " + actions.Explain(r)
}

func hintFor(r actions.Result) string {
	if r.Outcome == actions.Unknown {
		return "run any jobtop command that acts on this database later; it finds out first"
	}
	if r.Outcome != actions.Refused || r.Answer.Refusal == nil {
		return ""
	}
	switch *r.Answer.Refusal {
	case "uncertain":
		return "with --may-have-happened you take it upon yourself"
	case "alive":
		return "jobtop hold --stop takes it from its worker"
	case "changed":
		return "jobtop show tells more"
	}
	return ""
}
