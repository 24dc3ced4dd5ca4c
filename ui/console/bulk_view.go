package console

import (
	"fmt"
	"strings"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

func (d *bulkDialog) lines(width, height int) []theme.Line {
	e := d.m.env
	if d.running {
		return d.progressLines(width)
	}
	if !d.read && d.err != nil {
		return paragraph(theme.Bad, e.words(d.err)+"; it is tried again", width)
	}
	if !d.read {
		return paragraph(theme.Dim, "reading the jobs afresh", width)
	}
	var sum theme.Line
	sum.Add(theme.Strong, fmt.Sprintf("%d %s", len(d.safe), d.rest()))
	sum.Add(theme.Plain, "   ").Add(role(len(d.uncertain) > 0, theme.Warn), fmt.Sprintf("%d uncertain", len(d.uncertain)))
	sum.Add(theme.Plain, "   ").Add(theme.Dim, fmt.Sprintf("%d left out", len(d.unable)))
	if d.changed > 0 {
		sum.Add(theme.Plain, "   ").Add(theme.Bad, fmt.Sprintf("%d changed since you saw them; this is what they are now", d.changed))
	}
	if d.later > 0 {
		sum.Add(theme.Plain, "   ").Add(theme.Bad, fmt.Sprintf("%d changed since this was opened", d.later))
	}
	var tail []theme.Line
	if d.none() {
		tail = paragraph(theme.Warn, "The verb can be used on none of them.", width)
	} else {
		tail = d.form.lines(e, width)
	}
	all := len(d.marked)
	room := max(1, height-len(tail)-2)
	d.from = max(0, min(d.from, all-room))
	to := min(all, d.from+room)
	lines := append([]theme.Line{sum}, d.preview(width, d.from, to)...)
	var more theme.Line
	if to < all {
		more.Add(theme.Dim, fmt.Sprintf("and %d more below", all-to))
	}
	return append(append(lines, more), tail...)
}

// preview draws some of the jobs that were marked, each by its id, with what it is now.
func (d *bulkDialog) preview(width, from, to int) []theme.Line {
	e := d.m.env
	lines := make([]theme.Line, 0, to-from)
	add := func(heading string, r theme.Role, job *store.Job, rest string) {
		var l theme.Line
		l.Add(r, text.PadRight(heading, 10))
		l.Add(theme.Plain, text.PadRight(e.charset().TruncateMiddle(e.safe(job.ID), d.idWidth), d.idWidth)+"  ")
		l.Add(theme.Dim, e.charset().Line(rest, max(0, width-l.Width())))
		lines = append(lines, l)
	}
	now := func(j *store.Job) string {
		s := text.PadRight(e.charset().Line(j.Kind, d.kindWidth), d.kindWidth) + "  " + text.PadRight(actions.VerdictWords(j.Evidence), 17)
		if receipt := d.receipts[j.ID]; receipt != "" {
			s += "  receipt " + receipt
		}
		return s + "  version " + text.Count(j.Version)
	}
	for i := from; i < to; i++ {
		safe := i - len(d.uncertain)
		unable := safe - len(d.safe)
		switch {
		case safe < 0:
			add("uncertain", theme.Warn, d.uncertain[i], now(d.uncertain[i]))
		case unable < 0:
			add(d.rest(), theme.Plain, d.safe[safe], now(d.safe[safe]))
		default:
			add("left out", theme.Dim, d.unable[unable].job, d.unable[unable].why)
		}
	}
	return lines
}

func role(when bool, r theme.Role) theme.Role {
	if when {
		return r
	}
	return theme.Dim
}

func (d *bulkDialog) progressLines(width int) []theme.Line {
	e := d.m.env
	var bar, sum theme.Line
	bar.Add(theme.Info, progressBar(e, width, d.done, len(d.orders)))
	sum.Add(theme.Plain, fmt.Sprintf("%s of %s", text.Count(int64(d.done)), text.Count(int64(len(d.orders)))))
	for outcome, n := range tally(d.results) {
		sum.Add(theme.Plain, "   ").Add(outcomeRole(outcome), fmt.Sprintf("%d %s", n, outcomeWord(outcome)))
	}
	lines := []theme.Line{bar, sum, {}}
	if d.stopped {
		return append(lines, paragraph(theme.Warn, "stopping after the job that is under way", width)...)
	}
	if d.done > 0 {
		return append(lines, paragraph(theme.Dim, e.charset().Line(e.keyed(actions.Explain(d.results[d.done-1])), width), width)...)
	}
	return lines
}

func progressBar(e *env, width, done, all int) string {
	full := 0
	if all > 0 {
		full = width * done / all
	}
	return strings.Repeat(e.glyphs().BarFull, full) + strings.Repeat(e.glyphs().BarEmpty, width-full)
}

// tally counts outcomes, the gravest first.
func tally(results []actions.Result) func(func(actions.Outcome, int) bool) {
	counts := map[actions.Outcome]int{}
	for _, r := range results {
		counts[r.Outcome]++
	}
	return func(yield func(actions.Outcome, int) bool) {
		for _, o := range gravest {
			if counts[o] > 0 && !yield(o, counts[o]) {
				return
			}
		}
	}
}
