package cli

import (
	"context"
	"fmt"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
)

// receiptKey is what a receipt proves one job of: its ID goes with a kind.
type receiptKey struct{ kind, id string }

// rehearsal says what would become of plans that are carried out one after the other.
type rehearsal struct {
	db    *store.DB
	taken map[receiptKey]string // by which job of the plans before
}

// of says what would become of a plan, as far as can be told from here.
func (h *rehearsal) of(ctx context.Context, p plan) (actions.Result, string, error) {
	r, words := p.rehearse()
	if r.Outcome != actions.Applied || p.order.Verb != actions.VerbDone {
		return r, words, nil
	}
	key := receiptKey{p.job.Kind, p.order.ReceiptID}
	holder := h.taken[key]
	if holder == "" {
		var err error
		if holder, err = h.holder(ctx, key); err != nil {
			return r, "", fmt.Errorf("nothing was changed: %w", err)
		}
	}
	if holder != "" {
		refusal := "receipt_conflict"
		r.Outcome, r.Answer.Outcome, r.Answer.Refusal, r.Answer.Blocker = actions.Refused, "refused", &refusal, &holder
		return r, fmt.Sprintf("%s: receipt %s belongs to job %s; one receipt proves one job", short(p.job.ID), p.order.ReceiptID, short(holder)), nil
	}
	h.taken[key] = p.job.ID
	return r, words, nil
}

// holder is the done job that a receipt proves, "" where there is none. One that is only
// in a late report proves nothing yet.
func (h *rehearsal) holder(ctx context.Context, key receiptKey) (string, error) {
	page, err := h.db.Jobs(ctx, store.JobQuery{Conditions: []store.Condition{
		{Field: "receipt", Value: key.id}, {Field: "kind", Value: key.kind}, {Field: "state", Value: string(actions.Done)},
	}})
	if err != nil {
		return "", err
	}
	for _, job := range page.Jobs {
		if job.Evidence.ReceiptID != nil && *job.Evidence.ReceiptID == key.id {
			return job.ID, nil
		}
	}
	return "", nil
}

// rehearse looks at nothing but the job.
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
