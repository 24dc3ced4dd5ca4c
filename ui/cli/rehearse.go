package cli

import (
	"fmt"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
)

// rehearse says what would become of a plan, as far as can be told from here.
func (p plan) rehearse() (actions.Result, string) {
	r := actions.Result{Order: p.order, Outcome: actions.Applied, Answer: store.ActAnswer{
		Outcome: "applied", State: &p.job.State, Version: &p.job.Version, Attempt: &p.job.Attempt,
		Verdict: &p.job.Evidence.Verdict, ReceiptID: p.job.Evidence.ReceiptID,
	}}
	job, verb := p.job, p.order.Verb
	job.ID = short(job.ID)
	refuse := func(refusal, why string) (actions.Result, string) {
		r.Outcome, r.Answer.Outcome, r.Answer.Refusal = actions.Refused, "refused", &refusal
		return r, job.ID + ": " + why
	}
	asks := actions.Ask(verb, p.job)
	why := actions.Unavailable(verb, p.job)
	switch {
	case p.order.SeenVersion != p.job.Version:
		return refuse("changed", fmt.Sprintf("it is at version %d, and not at %d as it was seen", p.job.Version, p.order.SeenVersion))
	case why != "" && actions.HasEdge(p.order.SeenState, verb.Target(), actions.Operator):
		return refuse("alive", why)
	case why != "":
		return refuse("no_edge", why)
	case asks.Stop && len(p.order.Confirmations) == 0:
		return refuse("alive", "its worker is alive; --stop takes it from it")
	case asks.TypedID && len(p.order.Confirmations) == 0:
		return refuse("uncertain", "the record says "+actions.VerdictWords(p.job.Evidence)+"; --may-have-happened takes that upon yourself")
	}
	words := actions.Preview(verb, job)
	if warning := actions.Warning(verb, job); warning != "" {
		words += "; " + warning
	}
	if p.order.Delay > 0 {
		words += "; not to be claimed for " + text.Duration(p.order.Delay)
	}
	return r, words
}
