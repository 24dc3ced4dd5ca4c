package actions

import (
	"bytes"
	"fmt"
	"os"
	"text/tabwriter"
)

// tally counts reports.
type tally struct {
	acts, ambiguous, settled, applied, notHappened, refused, errored, unknown, wrong int
}

func (t *tally) count(r *report, wrong bool) {
	t.acts++
	bump := func(n *int, when bool) {
		if when {
			*n++
		}
	}
	o := r.result.Outcome
	bump(&t.ambiguous, r.ambiguous)
	bump(&t.settled, r.ambiguous && o != Unknown)
	bump(&t.applied, o == Applied)
	bump(&t.notHappened, o == NotHappened)
	bump(&t.refused, o == Refused)
	bump(&t.errored, o == Errored)
	bump(&t.unknown, o == Unknown)
	bump(&t.wrong, wrong)
}

// table prints what became of the acts, by fault and by way.
func (c *campaign) table(wrong map[*report]string) tally {
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	row := func(name string, t tally) {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", name, t.acts, t.ambiguous, t.settled, t.applied, t.notHappened, t.refused, t.errored, t.unknown, t.wrong)
	}
	var total tally
	for _, part := range []struct {
		title string
		names []string
		of    func(*report) string
	}{
		{"fault", names(campaignFaults), func(r *report) string { return r.fault }},
		{"way", []string{"direct", "before pgbouncer", "behind pgbouncer"}, func(r *report) string { return r.way }},
	} {
		fmt.Fprintf(w, "%s\tacts\tambiguous\tsettled\tapplied\tnot happened\trefused\terror\tunknown\tWRONG\t\n", part.title)
		total = tally{}
		for _, name := range part.names {
			var t tally
			for _, r := range c.reports {
				if part.of(r) == name {
					t.count(r, wrong[r] != "")
					total.count(r, wrong[r] != "")
				}
			}
			row(name, t)
		}
		row("all", total)
	}
	_ = w.Flush()
	fmt.Fprint(os.Stdout, text.String())
	return total
}

func names(faults []campaignFault) []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}
