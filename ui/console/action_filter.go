package console

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/theme"
)

// filter narrows the log by job:, kind:, by:, verb:, outcome: and since:.
func (a *actionLog) filter(expression string) error {
	q, err := parseActionFilter(expression)
	if err != nil {
		return err
	}
	a.expression, a.query = strings.TrimSpace(expression), q
	a.m.env.forget("actions")
	a.table.Reset()
	a.pages, a.loaded, a.err = nil, false, nil
	return nil
}

var actionFields = []string{"job", "kind", "by", "verb", "outcome", "since"}

// loggedOutcomes are those of the log; void is what did not happen.
var loggedOutcomes = []string{"applied", "refused", "void"}

// parseActionFilter reads the filter of the log, such as by:alice outcome:refused since:2h.
func parseActionFilter(expression string) (store.ActionQuery, error) {
	var q store.ActionQuery
	for _, term := range strings.Fields(expression) {
		field, value, ok := strings.Cut(term, ":")
		if !ok {
			field, value = "job", term
		}
		if value == "" {
			return q, fmt.Errorf("%s: the value is missing", term)
		}
		switch field {
		case "job":
			q.JobID = value
		case "kind":
			q.Kind = value
		case "by":
			q.Operator = value
		case "verb":
			if verbs := store.ActionVerbs(); !slices.Contains(verbs, value) {
				return q, fmt.Errorf("%s: the verbs are %s", term, strings.Join(verbs, ", "))
			}
			q.Verb = value
		case "outcome":
			if !slices.Contains(loggedOutcomes, value) {
				return q, fmt.Errorf("%s: the outcomes are applied, refused and void (did not happen)", term)
			}
			q.Outcome = value
		case "since":
			since, err := filter.ParseAge(value)
			if err != nil {
				return q, fmt.Errorf("%s: %w", term, err)
			}
			q.Since = since
		default:
			return q, fmt.Errorf("%s: actions are filtered by %s", term, strings.Join(actionFields, ":, ")+":")
		}
	}
	return q, nil
}

// actionTerms are the beginnings of terms, and the terms whose values are known.
func actionTerms() []string {
	var terms []string
	for _, f := range actionFields {
		terms = append(terms, f+":")
	}
	for _, v := range store.ActionVerbs() {
		terms = append(terms, "verb:"+v)
	}
	for _, o := range loggedOutcomes {
		terms = append(terms, "outcome:"+o)
	}
	return terms
}

func (a *actionLog) askFilter() tea.Cmd {
	p := newPrompt("/", a.expression, &a.past)
	p.changed = func(s string) {
		p.problem = ""
		if _, err := parseActionFilter(s); err != nil {
			p.problem = err.Error()
		}
	}
	p.complete = func(line string) []string {
		cut := strings.LastIndex(line, " ") + 1
		var offers []string
		for _, o := range actionTerms() {
			if term := line[cut:]; strings.HasPrefix(o, term) && o != term && strings.Contains(term, ":") == !strings.HasSuffix(o, ":") {
				offers = append(offers, line[:cut]+o)
			}
		}
		return offers
	}
	p.enter = func(s string) tea.Cmd {
		if err := a.filter(s); err != nil {
			a.m.env.say(theme.Warn, err.Error())
			return nil
		}
		a.m.history.visit(a.place())
		return a.refresh()
	}
	a.m.prompt = p
	return nil
}
