package console

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// resultsDialog lists what became of orders: it can be narrowed to one outcome, copied,
// and the refused ones can be tried again on what their jobs are now.
type resultsDialog struct {
	*pager
	m       *model
	results []actions.Result
	only    actions.Outcome // "" shows all
}

// openResults shows what became of orders, the worst first.
func (m *model) openResults(what string, results []actions.Result) {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b actions.Result) int { return gravity(a.Outcome) - gravity(b.Outcome) })
	d := &resultsDialog{m: m, results: sorted}
	d.pager = &pager{e: m.env, name: what + ": what became of it", make: d.draw, other: d.press}
	m.env.dialogs.push(m.env, d)
}

// showLedger lists the acts of this console, the newest first.
func (m *model) showLedger() tea.Cmd {
	var results []actions.Result
	sending := 0
	for i := len(m.env.ledger.log) - 1; i >= 0; i-- {
		if r := m.env.ledger.log[i].result; r != nil {
			results = append(results, *r)
		} else {
			sending++
		}
	}
	d := &resultsDialog{m: m, results: results}
	name := "Your acts, the newest first"
	if sending > 0 {
		name = fmt.Sprintf("Your acts; %d under way", sending)
	}
	d.pager = &pager{e: m.env, name: name, make: d.draw, other: d.press}
	m.env.dialogs.push(m.env, d)
	return nil
}

// gravest are the outcomes in the order in which they need attention.
var gravest = []actions.Outcome{actions.Unknown, actions.Errored, actions.Refused, actions.NotHappened, actions.NotSent, actions.Applied}

func gravity(o actions.Outcome) int { return slices.Index(gravest, o) }

func (d *resultsDialog) shown() []actions.Result {
	if d.only == "" {
		return d.results
	}
	return slices.DeleteFunc(slices.Clone(d.results), func(r actions.Result) bool { return r.Outcome != d.only })
}

func (d *resultsDialog) draw(width int) []theme.Line {
	var sum theme.Line
	gap := ""
	for outcome, n := range tally(d.results) {
		sum.Add(theme.Plain, gap).Add(outcomeRole(outcome), fmt.Sprintf("%d %s", n, outcomeWord(outcome)))
		gap = "   "
	}
	if d.only != "" {
		sum.Add(theme.Dim, "   showing "+outcomeWord(d.only))
	}
	lines := []theme.Line{sum, {}}
	for _, r := range d.shown() {
		for i, part := range text.Wrap(d.m.env.safe(d.m.env.keyed(actions.Explain(r))), max(10, width-16)) {
			var l theme.Line
			if i == 0 {
				l.Add(outcomeRole(r.Outcome), outcomeWord(r.Outcome))
			}
			l.Gap(16)
			l.Add(theme.Plain, part)
			lines = append(lines, l)
		}
	}
	return lines
}

func (d *resultsDialog) hints() []hint {
	hints := append(d.pager.hints(), hint{"f", "filter"}, hint{d.m.env.keymap.Get("copy").First(), "copy"})
	if len(d.again()) > 0 {
		hints = append(hints, hint{"r", "repeat for the refused"})
	}
	return hints
}

func (d *resultsDialog) press(key string) (bool, tea.Cmd) {
	switch key {
	case "f":
		d.next()
	case "r":
		if ids := d.again(); len(ids) > 0 {
			return true, d.m.repeat(d.results[0].Order.Verb, ids)
		}
	case "y", "Y":
		var rows [][]string
		for _, r := range d.shown() {
			rows = append(rows, []string{r.Order.JobID, outcomeWord(r.Outcome), actions.Explain(r)})
		}
		return false, d.m.copyRows("the list", rows)
	}
	return false, nil
}

// next narrows the list to the next outcome that occurs.
func (d *resultsDialog) next() {
	outcomes := []actions.Outcome{""}
	for o := range tally(d.results) {
		outcomes = append(outcomes, o)
	}
	i := slices.Index(outcomes, d.only)
	d.only = outcomes[(i+1)%len(outcomes)]
}

// again are the jobs of orders that were refused or not sent, where all are of one verb.
func (d *resultsDialog) again() []string {
	var ids []string
	for _, r := range d.results {
		if r.Order.Verb != d.results[0].Order.Verb {
			return nil
		}
		if r.Outcome != actions.Applied && r.Outcome != actions.Unknown && str(r.Answer.Refusal) != "not_found" {
			ids = append(ids, r.Order.JobID)
		}
	}
	return ids
}

// repeat reads jobs afresh and asks again what to do with them.
func (m *model) repeat(v actions.Verb, ids []string) tea.Cmd {
	db := m.env.DB
	m.env.say(theme.Info, "reading the jobs afresh")
	return ask(m.env, "repeat", readRows(db, ids), func(jobs []store.Job, err error) tea.Cmd {
		if err != nil {
			m.env.say(theme.Bad, m.env.words(err))
			return nil
		}
		m.env.status = status{}
		if len(jobs) == 1 {
			return m.openAct(v, jobs[0])
		}
		refs := make([]*store.Job, len(jobs))
		for i := range jobs {
			refs[i] = &jobs[i]
		}
		return m.openBulk(v, refs)
	})
}
