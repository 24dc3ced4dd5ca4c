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
)

// bulkDialog previews a verb on the marked jobs, by id and split by verdict, asks what
// must be asked, runs it job by job and ends in the list of what became of each. While it
// is open it is read afresh with every look: each order is bound to the version that the
// preview showed at first, and a job that went on to another is left out and says so.
type bulkDialog struct {
	m    *model
	verb actions.Verb

	marked             []*store.Job          // as the list showed them
	ids                []string              // of marked
	shown              map[string]*store.Job // as they were first read here
	safe               []*store.Job          // one confirmation does for all
	uncertain          []*store.Job          // their number has to be typed
	unable             []left                // left out, and why
	form               *form
	reason             *input
	typed              *input // how many uncertain
	spread             *input
	profile            *input
	receipts           map[string]string // by job: what done takes
	from               int               // scrolled
	idWidth, kindWidth int

	read    bool
	err     error
	changed int // since they were seen in the list
	later   int // since the preview showed them

	running bool
	done    int
	orders  []actions.Order
	results []actions.Result
	stop    context.CancelFunc
	stopped bool
}

// left is a job that the verb cannot be used on.
type left struct {
	job *store.Job
	why string
}

func (m *model) openBulk(v actions.Verb, jobs []*store.Job) tea.Cmd {
	d := &bulkDialog{m: m, verb: v, marked: jobs, ids: make([]string, 0, len(jobs)), receipts: map[string]string{}}
	for _, job := range jobs {
		d.ids = append(d.ids, job.ID)
	}
	d.inputs()
	m.env.dialogs.push(m.env, d)
	return d.refresh()
}

func (d *bulkDialog) name() string { return "bulk" }

func (d *bulkDialog) refresh() tea.Cmd {
	e := d.m.env
	if d.running || e.asking(d.name()) {
		return nil
	}
	return ask(e, d.name(), readRows(e.DB, d.ids), d.got)
}

// got splits the jobs as they were read afresh and asks what has to be asked. What was
// typed stays, and so does the cursor.
func (d *bulkDialog) got(jobs []store.Job, err error) tea.Cmd {
	if d.err = err; err != nil {
		return nil
	}
	now := make(map[string]*store.Job, len(jobs))
	for i := range jobs {
		now[jobs[i].ID] = &jobs[i]
	}
	if !d.read {
		d.first(now)
	}
	before := d.later
	d.split(now)
	d.arrange()
	if d.later != before {
		d.form.quiet.begin(d.m.env.now()) // a press of the button was meant for what was there
	}
	return nil
}

// first is what the orders are bound to.
func (d *bulkDialog) first(now map[string]*store.Job) {
	e := d.m.env
	d.read = true
	d.shown = make(map[string]*store.Job, len(now))
	for _, job := range d.marked {
		if here := now[job.ID]; here != nil {
			d.shown[job.ID] = here
			if here.Version != job.Version {
				d.changed++
			}
		}
		d.idWidth = max(d.idWidth, min(30, text.Width(e.safe(job.ID))))
		d.kindWidth = max(d.kindWidth, min(18, text.Width(e.safe(job.Kind))))
	}
}

// inputs makes the fields that there may be.
func (d *bulkDialog) inputs() {
	e := d.m.env
	d.reason = &input{label: "reason", field: newField(""), hint: "why; kept with every action", check: problem(actions.ValidReason)}
	d.typed = &input{label: "how many uncertain", field: newField(""), check: func(s string) string {
		want := strconv.Itoa(len(d.uncertain))
		if s = strings.TrimSpace(s); s == want || s == "" && len(d.safe) > 0 {
			return ""
		}
		if want == "1" {
			return "there is 1 uncertain one"
		}
		return "there are " + want + " uncertain ones"
	}}
	d.spread = &input{label: "spread over", field: newField(""), hint: "10m, 2h; empty: all at once", check: func(s string) string {
		if strings.TrimSpace(s) == "" {
			return ""
		}
		_, err := filter.ParseAge(strings.TrimSpace(s))
		return e.words(err)
	}}
	d.profile = &input{label: "profile", field: newField(""), hint: "type " + e.safe(e.Profile), check: same("the profile's name", e.Profile)}
	d.form = newForm(d.button())
}

// arrange chooses the fields for what there is.
func (d *bulkDialog) arrange() {
	inputs := []*input{d.reason}
	if n := len(d.uncertain); n > 0 {
		d.typed.hint = "type " + strconv.Itoa(n)
		if len(d.safe) > 0 {
			d.typed.hint += ", or leave it empty to leave them out"
		}
		inputs = append(inputs, d.typed)
	}
	if d.verb == actions.VerbRequeue && len(d.shown) > 1 {
		inputs = append(inputs, d.spread)
	}
	if d.m.env.production() {
		inputs = append(inputs, d.profile)
	}
	d.form.keep(inputs...)
	d.form.button = d.button()
}

// withUncertain: their number was typed, so they are meant too.
func (d *bulkDialog) withUncertain() bool {
	return len(d.uncertain) > 0 && strings.TrimSpace(d.typed.field.value()) != ""
}

// button names what will be sent: without their number the uncertain ones stay out.
func (d *bulkDialog) button() string {
	n := len(d.safe)
	if d.withUncertain() {
		n += len(d.uncertain)
	}
	return fmt.Sprintf("%s %d", d.verb.Title(), n)
}

// split parts the jobs into those that are safe or ready, those that are uncertain, and those that
// the verb cannot be used on, or not any more.
func (d *bulkDialog) split(now map[string]*store.Job) {
	d.safe, d.uncertain, d.unable, d.later = nil, nil, nil, 0
	for _, marked := range d.marked {
		job, known := now[marked.ID]
		first, was := d.shown[marked.ID]
		var why string
		switch {
		case !known && !was:
			job, why = marked, "it does not exist any more"
		case !known:
			job, why = first, "it does not exist any more"
			d.later++
		case !was || first.Version != job.Version || first.State != job.State:
			why = "it changed since this was opened: " + job.State + ", version " + text.Count(job.Version) + " now"
			d.later++
		default:
			why = d.cannot(job)
		}
		switch {
		case why != "":
			d.unable = append(d.unable, left{job, why})
		case d.doubtful(*job):
			d.uncertain = append(d.uncertain, job)
		default:
			d.safe = append(d.safe, job)
		}
	}
}

// doubtful: whether the verb is right for the job depends on what is not known.
func (d *bulkDialog) doubtful(job store.Job) bool {
	return actions.Weighs(d.verb) && actions.Warning(d.verb, job) != ""
}

// rest names the jobs that are not uncertain.
func (d *bulkDialog) rest() string {
	if actions.Weighs(d.verb) {
		return "safe"
	}
	return "ready"
}

// cannot is why the verb cannot be used on one of many, "" if it can.
func (d *bulkDialog) cannot(job *store.Job) string {
	if why := actions.Unavailable(d.verb, *job); why != "" {
		return d.m.env.keyed(why)
	}
	asks := actions.Ask(d.verb, *job)
	if asks.Stop {
		return "its worker is alive; stop it by itself"
	}
	if !asks.Receipt {
		return ""
	}
	receipt := asks.Suggested
	if f := d.m.findings[job.ID]; receipt == "" && f != nil {
		receipt = f.receipt
	}
	if receipt == "" {
		return "no receipt ID is known; look it up first"
	}
	d.receipts[job.ID] = receipt
	return ""
}

func (d *bulkDialog) title() string {
	if len(d.marked) == 1 {
		return d.verb.Title() + " 1 marked job"
	}
	return d.verb.Title() + " " + text.Count(int64(len(d.marked))) + " marked jobs"
}

func (d *bulkDialog) wants() int { return 92 }

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
		if msg.Type == tea.KeyEsc || msg.Type == tea.KeyEnter {
			e.forget(d.name())
			return true, nil
		}
		return false, nil
	case msg.Type == tea.KeyPgDown:
		d.from += 5
		return false, nil
	case msg.Type == tea.KeyPgUp:
		d.from = max(0, d.from-5)
		return false, nil
	}
	switch d.form.key(e, msg) {
	case formCancelled:
		e.forget(d.name())
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
	e.forget(d.name()) // from here on it stands still
	jobs := append([]*store.Job(nil), d.safe...)
	if d.withUncertain() {
		jobs = append(jobs, d.uncertain...)
	}
	for _, job := range jobs {
		o := actions.Order{
			Verb: d.verb, JobID: job.ID, SeenState: actions.State(job.State), SeenVersion: job.Version,
			Reason: strings.TrimSpace(d.reason.field.value()), Confirmations: actions.Ask(d.verb, *job).Confirmations(),
			ReceiptID: d.receipts[job.ID],
		}
		if f := d.m.findings[job.ID]; f != nil {
			o.Lookup = f.record
		}
		d.orders = append(d.orders, o)
	}
	if d.verb == actions.VerbRequeue {
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

// finish replaces the dialog by the list of what became of each job. Those that were left
// out, or whose turn did not come, stay marked.
func (d *bulkDialog) finish() tea.Cmd {
	e := d.m.env
	d.stop()
	d.m.arrived()
	e.dialogs.close(d)
	var sent []string
	for _, r := range d.results {
		if r.Outcome != actions.NotSent {
			sent = append(sent, r.Order.JobID)
		}
	}
	for _, v := range []string{"stuck", "review", "jobs"} {
		if l, ok := d.m.screens[v].(*list); ok && l == d.m.screen() {
			l.table.UnmarkThese(sent)
		}
	}
	title := d.verb.Title()
	if len(sent) < len(d.marked) {
		title += fmt.Sprintf(" (%d of %d; the others stay marked)", len(sent), len(d.marked))
	}
	d.m.openResults(title, d.results)
	return tea.Batch(d.m.lookNow(), d.m.refreshAll())
}
