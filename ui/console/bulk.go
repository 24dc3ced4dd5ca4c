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
