package cli

import (
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
