package console

import (
	"slices"
	"strings"
	"time"

	"github.com/NimbleMarkets/ntcharts/canvas"
	"github.com/NimbleMarkets/ntcharts/canvas/runes"
	"github.com/NimbleMarkets/ntcharts/sparkline"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// throughput is how many jobs were done in each of the last minutes, as bars of some
// lines' height.
func (o *overview) throughput(width, height int) []theme.Line {
	e := o.m.env
	label := " done per minute, last " + text.Count(store.ThroughputMinutes) + " min  "
	if width < 76 {
		label = " done/min  "
	}
	lines := make([]theme.Line, height)
	lines[height-1].Add(theme.Title, strings.TrimRight(label, " "))
	if !o.read {
		return lines
	}
	for i, row := range bars(o.data.Done, height, e.glyphs().Bars) {
		lines[i].Gap(len(label))
		lines[i].Add(theme.Good, row)
	}
	most := int64(0)
	for _, n := range o.data.Done {
		most = max(most, n)
	}
	now := "-"
	if n := len(o.data.Done); n > 0 {
		now = text.Count(o.data.Done[n-1])
		if o.data.DoneSampled[n-1] {
			now = e.charset().Approx() + now
		}
	}
	lines[height-1].Add(theme.Plain, "  "+now+" now")
	if width >= 100 {
		lines[height-1].Add(theme.Dim, ", "+text.Count(most)+" at most")
	}
	return lines
}

// bars draws values as columns over some lines, the top one first, with glyphs from empty
// to full.
func bars(values []int64, height int, glyphs []string) []string {
	chart := sparkline.New(len(values), height)
	most := float64(slices.Max(append([]int64{1}, values...)))
	least := most / float64((len(glyphs)-1)*height)
	chart.SetMax(most)
	for _, n := range values {
		v := float64(n)
		if n > 0 {
			v = max(v, least) // a little is not nothing
		}
		chart.Push(v)
	}
	chart.DrawColumnsOnly()
	drawn := make([]string, height)
	for y := range drawn {
		var row strings.Builder
		for x := range values {
			glyph := glyphs[0]
			if r := chart.Canvas.Cell(canvas.Point{X: x, Y: y}).Rune; runes.IsLowerBlockElement(r) {
				glyph = glyphs[r-runes.LowerBlockOne+1]
			}
			row.WriteString(glyph)
		}
		drawn[y] = row.String()
	}
	return drawn
}

// receiptsLine are the latest receipts, as many as fit.
func (o *overview) receiptsLine(width int) theme.Line {
	e := o.m.env
	var l theme.Line
	l.Add(theme.Title, " latest receipts")
	if o.read && len(o.data.Receipts) == 0 {
		l.Add(theme.Dim, "  none yet")
	}
	here, _ := o.current()
	first := 0
	if here.section == sectionReceipts {
		first = here.row // what is selected is shown
	}
	for i, r := range o.data.Receipts {
		if i < first {
			continue
		}
		what := e.charset().Line(r.ReceiptID, 20) + " " + e.charset().Line(r.Kind, 16) + " " + age(r.RecordedAge)
		if l.Width()+3+text.Width(what) > width {
			break
		}
		if o.is("receipt " + r.JobID) {
			l.Add(theme.Plain, " ").Add(theme.Selected, e.glyphs().Cursor+" "+what)
			continue
		}
		l.Add(theme.Plain, "   "+what)
	}
	return l
}

// databaseLine is what the database says about its own health.
func (o *overview) databaseLine() theme.Line {
	e := o.m.env
	var l theme.Line
	l.Add(theme.Title, " database")
	if !o.read {
		return l
	}
	h := o.data.Health
	add := func(name, figure string, role theme.Role) {
		l.Add(theme.Dim, "   "+name+" ").Add(role, figure)
	}
	role := func(bad bool) theme.Role {
		if bad {
			return theme.Warn
		}
		return theme.Plain
	}
	oldest := "none"
	if h.OldestTransaction != nil {
		oldest = age(*h.OldestTransaction)
	}
	if !h.Whole {
		oldest += " (of ours)"
	}
	add("oldest transaction", oldest, role(h.OldestTransaction != nil && *h.OldestTransaction > 5*time.Minute))
	add("lock waiters", text.Count(h.LockWaiters), role(h.LockWaiters > 0))
	if h.DeadShare != nil {
		add("dead rows", text.Percent(*h.DeadShare), role(*h.DeadShare > 0.2))
	}
	if h.Lag != nil {
		add("lag", text.Duration(*h.Lag), role(*h.Lag > 10*time.Second))
	}
	if looked := !o.looked.IsZero(); looked && len(o.contradictions) == 0 && e.width >= 100 {
		add("contradictions", "0", theme.Plain)
	}
	return l
}
