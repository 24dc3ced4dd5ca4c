package console

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// bulkDialog previews a verb on the marked jobs, by id and split by verdict, asks what
// must be asked, runs it job by job and ends in the list of what became of each.
type bulkDialog struct {
	m    *model
	verb actions.Verb

	safe      []store.Job // one confirmation does for all
	uncertain []store.Job // their number has to be typed
	unable    []left      // left out, and why
	form      *form
	reason    *input
	typed     *input
	spread    *input
	receipts  map[string]string // by job: what done takes
	from      int               // scrolled

	seen    map[string]store.Job // as the list showed them
	read    bool
	err     error
	changed int // since they were seen

	running bool
	done    int
	orders  []actions.Order
	results []actions.Result
	stop    context.CancelFunc
	stopped bool
}

// left is a job that the verb cannot be used on.
type left struct {
	job store.Job
	why string
}

func (m *model) openBulk(v actions.Verb, jobs []store.Job) tea.Cmd {
	d := &bulkDialog{m: m, verb: v, seen: map[string]store.Job{}, receipts: map[string]string{}}
	ids := make([]string, 0, len(jobs))
	for _, job := range jobs {
		ids = append(ids, job.ID)
		d.seen[job.ID] = job
	}
	m.env.dialogs.push(m.env, d)
	return ask(m.env, d.name(), readRows(m.env.DB, ids), d.got)
}

func (d *bulkDialog) name() string { return "bulk" }

// got splits the jobs as they were read afresh and asks what has to be asked. From here
// on the dialog stands still: each order is bound to what it shows.
func (d *bulkDialog) got(jobs []store.Job, err error) tea.Cmd {
	d.err = err
	if err != nil {
		return nil
	}
	d.read = true
	found := map[string]bool{}
	for _, job := range jobs {
		found[job.ID] = true
		if job.Version != d.seen[job.ID].Version {
			d.changed++
		}
	}
	d.split(jobs)
	for id, job := range d.seen {
		if !found[id] {
			d.unable = append(d.unable, left{job, "it does not exist any more"})
		}
	}
	d.ask(len(jobs))
	return nil
}

func (d *bulkDialog) ask(n int) {
	m := d.m
	d.reason = &input{label: "reason", field: newField(""), hint: "why; kept with every action", check: problem(actions.ValidReason)}
	inputs := []*input{d.reason}
	if n := len(d.uncertain); n > 0 {
		want := strconv.Itoa(n)
		hint := "type " + want
		if len(d.safe) > 0 {
			hint += ", or leave it empty to leave them out"
		}
		d.typed = &input{label: "how many uncertain", field: newField(""), hint: hint, check: func(s string) string {
			if s = strings.TrimSpace(s); s == want || s == "" && len(d.safe) > 0 {
				return ""
			}
			return "there are " + want + " uncertain ones"
		}}
		inputs = append(inputs, d.typed)
	}
	if d.verb == actions.VerbRequeue && n > 1 {
		d.spread = &input{label: "spread over", field: newField(""), hint: "10m, 2h; empty: all at once", check: func(s string) string {
			if strings.TrimSpace(s) == "" {
				return ""
			}
			_, err := filter.ParseAge(strings.TrimSpace(s))
			return m.env.words(err)
		}}
		inputs = append(inputs, d.spread)
	}
	if m.env.production() {
		inputs = append(inputs, &input{label: "profile", field: newField(""), hint: "type " + m.env.safe(m.env.Profile), check: same("the profile's name", m.env.Profile)})
	}
	d.form = newForm(d.button(), inputs...)
}

// button names what will be sent: without their number the uncertain ones stay out.
func (d *bulkDialog) button() string {
	n := len(d.safe)
	if d.typed != nil && strings.TrimSpace(d.typed.field.value()) != "" {
		n += len(d.uncertain)
	}
	return fmt.Sprintf("%s %d", d.verb.Title(), n)
}

// split parts the jobs into those that are safe, those that are uncertain, and those that
// the verb cannot be used on.
func (d *bulkDialog) split(jobs []store.Job) {
	for _, job := range jobs {
		why := actions.Unavailable(d.verb, job)
		asks := actions.Ask(d.verb, job)
		if why == "" && asks.Stop {
			why = "its worker is alive; stop it by itself"
		}
		if why == "" && asks.Receipt {
			receipt := asks.Suggested
			if f := d.m.findings[job.ID]; receipt == "" && f != nil {
				receipt = f.receipt
			}
			if receipt == "" {
				why = "no receipt ID is known; look it up, or mark it done by itself"
			}
			d.receipts[job.ID] = receipt
		}
		switch {
		case why != "":
			d.unable = append(d.unable, left{job, why})
		case asks.TypedID:
			d.uncertain = append(d.uncertain, job)
		default:
			d.safe = append(d.safe, job)
		}
	}
}

func (d *bulkDialog) title() string {
	n := len(d.seen)
	return fmt.Sprintf("%s %d marked jobs", d.verb.Title(), n)
}

func (d *bulkDialog) wants() int       { return 92 }
func (d *bulkDialog) refresh() tea.Cmd { return nil }

func (d *bulkDialog) hints() []hint {
	if d.running {
		return []hint{{"esc", "stop between two jobs"}}
	}
	if !d.read || d.none() {
		return []hint{{"esc", "close"}}
	}
	return append(d.form.hints(), hint{"PgDn PgUp", "scroll the preview"})
}

func (d *bulkDialog) none() bool { return len(d.safe)+len(d.uncertain) == 0 }

func (d *bulkDialog) key(msg tea.KeyMsg) (bool, tea.Cmd) {
	e := d.m.env
	switch {
	case d.running:
		if msg.Type == tea.KeyEsc && !d.stopped {
			d.stopped = true
			d.stop()
		}
		return false, nil
	case !d.read || d.none():
		d.m.env.forget(d.name())
		return msg.Type == tea.KeyEsc || msg.Type == tea.KeyEnter, nil
	case msg.Type == tea.KeyPgDown:
		d.from += 5
		return false, nil
	case msg.Type == tea.KeyPgUp:
		d.from = max(0, d.from-5)
		return false, nil
	}
	switch d.form.key(e, msg) {
	case formCancelled:
		return true, nil
	case formDone:
		return false, d.run()
	case formOpen:
	}
	d.form.button = d.button()
	return false, nil
}

// run sends the orders one after the other, each bound to what the preview showed.
func (d *bulkDialog) run() tea.Cmd {
	e := d.m.env
	jobs := append([]store.Job(nil), d.safe...)
	if d.typed != nil && strings.TrimSpace(d.typed.field.value()) != "" {
		jobs = append(jobs, d.uncertain...)
	}
	for _, job := range jobs {
		o := actions.Order{
			Verb: d.verb, JobID: job.ID, SeenState: actions.State(job.State), SeenVersion: job.Version,
			Reason: strings.TrimSpace(d.reason.field.value()), Confirmations: actions.Ask(d.verb, job).Confirmations(),
			ReceiptID: d.receipts[job.ID],
		}
		if f := d.m.findings[job.ID]; f != nil {
			o.Lookup = f.record
		}
		d.orders = append(d.orders, o)
	}
	if d.spread != nil {
		if over, err := filter.ParseAge(strings.TrimSpace(d.spread.field.value())); err == nil {
			d.orders = actions.Spread(d.orders, over)
		}
	}
	ctx, stop := context.WithCancel(e.ctx)
	d.running, d.stop = true, stop
	e.ledger.sending++
	runner, orders := e.Runner, d.orders
	steps := make(chan actions.Result)
	results := make(chan []actions.Result, 1)
	all := func() tea.Msg {
		defer close(steps)
		results <- runner.RunAll(ctx, orders, func(_ int, r actions.Result) {
			select {
			case steps <- r:
			case <-e.ctx.Done():
			}
		})
		return nil
	}
	return tea.Batch(all, d.step(steps, results))
}

// step waits for one more result, and at the end for all of them.
func (d *bulkDialog) step(steps <-chan actions.Result, results <-chan []actions.Result) tea.Cmd {
	return func() tea.Msg {
		r, more := <-steps
		if !more {
			return progress{func() tea.Cmd { return d.finish() }}
		}
		return progress{func() tea.Cmd {
			d.done++
			d.results = append(d.results, r)
			d.m.env.ledger.add(r.Order, d.m.env.now()).result = &r
			return d.step(steps, results)
		}}
	}
}

// finish replaces the dialog by the list of what became of each job.
func (d *bulkDialog) finish() tea.Cmd {
	e := d.m.env
	d.stop()
	d.m.arrived()
	e.dialogs.close(d)
	for _, v := range []string{"stuck", "review", "jobs"} {
		if l, ok := d.m.screens[v].(*list); ok && l == d.m.screen() {
			l.table.Unmark()
		}
	}
	d.m.openResults(d.verb.Title(), d.results)
	return tea.Batch(d.m.look(), d.m.refreshAll())
}

func (d *bulkDialog) lines(width, height int) []theme.Line {
	e := d.m.env
	if d.running {
		return d.progressLines(width)
	}
	if d.err != nil {
		return paragraph(theme.Bad, e.words(d.err), width)
	}
	if !d.read {
		return paragraph(theme.Dim, "reading the jobs afresh", width)
	}
	var sum theme.Line
	sum.Add(theme.Strong, fmt.Sprintf("%d safe", len(d.safe)))
	sum.Add(theme.Plain, "   ").Add(role(len(d.uncertain) > 0, theme.Warn), fmt.Sprintf("%d uncertain", len(d.uncertain)))
	sum.Add(theme.Plain, "   ").Add(theme.Dim, fmt.Sprintf("%d left out", len(d.unable)))
	if d.changed > 0 {
		sum.Add(theme.Plain, "   ").Add(theme.Bad, fmt.Sprintf("%d changed since you saw them; this is what they are now", d.changed))
	}
	preview := d.preview(width)
	var tail []theme.Line
	if d.none() {
		tail = paragraph(theme.Warn, "The verb can be used on none of them.", width)
	} else {
		tail = d.form.lines(e, width)
	}
	room := max(1, height-len(tail)-2)
	d.from = max(0, min(d.from, len(preview)-room))
	shown := preview[d.from:min(len(preview), d.from+room)]
	lines := append([]theme.Line{sum}, shown...)
	if hidden := len(preview) - d.from - len(shown); hidden > 0 {
		var more theme.Line
		more.Add(theme.Dim, fmt.Sprintf("and %d more below", hidden))
		lines = append(lines, more)
	} else {
		lines = append(lines, theme.Line{})
	}
	return append(lines, tail...)
}

// preview lists every job that was marked, by its id, with what it is now.
func (d *bulkDialog) preview(width int) []theme.Line {
	e := d.m.env
	id, kind := 0, 0
	for _, job := range d.seen {
		id = max(id, min(30, text.Width(e.safe(job.ID))))
		kind = max(kind, min(18, text.Width(e.safe(job.Kind))))
	}
	var lines []theme.Line
	add := func(heading string, r theme.Role, job store.Job, rest string) {
		var l theme.Line
		l.Add(r, text.PadRight(heading, 10))
		l.Add(theme.Plain, text.PadRight(e.charset().TruncateMiddle(e.safe(job.ID), id), id)+"  ")
		l.Add(theme.Dim, e.charset().Line(rest, max(0, width-l.Width())))
		lines = append(lines, l)
	}
	now := func(j store.Job) string {
		s := text.PadRight(e.charset().Line(j.Kind, kind), kind) + "  " + text.PadRight(verdictWord(j.Evidence), 17) + "  version " + text.Count(j.Version)
		if receipt := d.receipts[j.ID]; receipt != "" {
			s += "  receipt " + receipt
		}
		return s
	}
	for _, job := range d.uncertain {
		add("uncertain", theme.Warn, job, now(job))
	}
	for _, job := range d.safe {
		add("safe", theme.Plain, job, now(job))
	}
	for _, l := range d.unable {
		add("left out", theme.Dim, l.job, l.why)
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
		return append(lines, paragraph(theme.Dim, e.charset().Line(actions.Explain(d.results[d.done-1]), width), width)...)
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
