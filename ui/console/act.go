package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/table"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// actDialog asks what must be asked before a verb is used on one job. It reads the job
// afresh, says who changed it meanwhile, and binds the order to what it shows.
type actDialog struct {
	m    *model
	verb actions.Verb
	id   string
	seen store.Job // as the screen under it showed it

	job     store.Job // as read here
	read    bool
	err     error
	changed string // who changed it since it was seen, and how
	asks    actions.Asks
	form    *form

	reason, receipt, typed, profile *input
	found                           *finding // what a lookup told
}

// verbs are the bindings of the four verbs. target is the job they are for; the marked
// ones of a table, if there are any, come first.
func (m *model) verbs(target func() (store.Job, bool), marked *table.Table[store.Job]) []binding {
	var bindings []binding
	for i, v := range actions.Verbs() {
		why := func() string {
			if reason := m.env.readOnly(); reason != "" {
				return "read-only: " + reason
			}
			if marked != nil && marked.Marks() > 0 {
				return ""
			}
			job, ok := target()
			if !ok {
				return "no job is selected"
			}
			return m.env.keyed(actions.Unavailable(v, job))
		}
		do := func() tea.Cmd {
			if marked != nil && marked.Marks() > 0 {
				return m.openBulk(v, marked.Marked())
			}
			job, _ := target()
			return m.openAct(v, job)
		}
		bindings = append(bindings, m.env.bind(string(v), 20+i, do, why))
	}
	return bindings
}

func (m *model) openAct(v actions.Verb, seen store.Job) tea.Cmd {
	e := m.env
	d := &actDialog{m: m, verb: v, id: seen.ID, seen: seen, job: seen, found: m.findings[seen.ID]}
	d.reason = &input{label: "reason", field: newField(""), hint: "why; kept with the action", check: problem(actions.ValidReason)}
	d.receipt = &input{label: "receipt ID", field: newField(""), hint: "the provider's own identifier", check: problem(actions.ValidReceipt)}
	d.typed = &input{label: "type the id", field: newField(""), hint: e.safe(seen.ID), check: same("the job's id", seen.ID)}
	d.profile = &input{label: "profile", field: newField(""), hint: "type " + e.safe(e.Profile), check: same("the profile's name", e.Profile)}
	d.form = newForm(v.Title())
	d.arrange()
	e.dialogs.push(e, d)
	return d.refresh()
}

// problem makes a check of a form out of one of package actions.
func problem(valid func(string) error) func(string) string {
	return func(s string) string {
		if err := valid(s); err != nil {
			return err.Error()
		}
		return ""
	}
}

// same wants something typed to the letter; where it holds what cannot be typed, as the
// screen writes it. That two may be written alike harms nobody: an act is bound to its
// job by id and version.
func same(what, want string) func(string) string {
	forms := []string{want, text.Unicode.Sanitize(want), text.ASCII.Sanitize(want)}
	return func(s string) string {
		for _, form := range forms {
			if strings.TrimSpace(s) == strings.TrimSpace(form) {
				return ""
			}
		}
		return "that is not " + what + ", to the letter"
	}
}

// arrange chooses the fields for the job as it was read. What was typed stays.
func (d *actDialog) arrange() {
	asks := actions.Ask(d.verb, d.job)
	if asks == d.asks && len(d.form.inputs) > 0 {
		return
	}
	d.asks = asks
	inputs := []*input{d.reason}
	if asks.Receipt {
		inputs = append(inputs, d.receipt)
		if d.receipt.field.value() == "" {
			d.receipt.field.set(d.suggested())
		}
	}
	if asks.TypedID {
		inputs = append(inputs, d.typed)
	}
	if d.m.env.production() {
		inputs = append(inputs, d.profile)
	}
	d.form.set(inputs...)
}

// suggested is a receipt ID that is known already: from the record, or from a lookup.
func (d *actDialog) suggested() string {
	if d.asks.Suggested != "" {
		return d.asks.Suggested
	}
	if d.found != nil {
		return d.found.receipt
	}
	return ""
}

type reading struct {
	job    store.Job
	detail *store.Detail // read only where the job was not as known
}

func (d *actDialog) name() string { return "act " + d.id }

func (d *actDialog) refresh() tea.Cmd {
	e := d.m.env
	if e.asking(d.name()) {
		return nil
	}
	db, id, version, state := e.DB, d.id, d.job.Version, d.job.State
	return ask(e, d.name(), func(ctx context.Context) (reading, error) {
		job, err := db.Row(ctx, id)
		if err != nil || job.Version == version && job.State == state {
			return reading{job: job}, err
		}
		if detail, err := db.Job(ctx, id); err == nil {
			return reading{detail.Job, &detail}, nil
		}
		return reading{job: job}, nil // what it is now counts more than who made it so
	}, d.got)
}

func (d *actDialog) got(r reading, err error) tea.Cmd {
	e := d.m.env
	d.err = err
	if err != nil {
		return e.alarm("dialog", dialogEvery, d.again)
	}
	before := d.job
	d.job, d.read = r.job, true
	if r.job.Version != before.Version || r.job.State != before.State {
		d.changed = changedSince(e, before, r)
		d.form.cancels()
		e.dialogs.quiet.begin(e.now())
	}
	d.arrange()
	return e.alarm("dialog", dialogEvery, d.again)
}

// dialogEvery is how often an open dialog reads its one job again, however seldom the
// budget lets the console look at all of them.
const dialogEvery = 3 * time.Second

func (d *actDialog) again() tea.Cmd {
	if d.m.env.dialogs.top() != d {
		return nil
	}
	return d.refresh()
}

// changedSince says who changed a job since it was seen, when and how.
func changedSince(e *env, seen store.Job, r reading) string {
	who := "somebody changed it"
	if d := r.detail; d != nil && d.ChangedBy != nil {
		who = e.safe(*d.ChangedBy) + " changed it (" + e.safe(str(d.ChangedHow)) + ") " + age(d.Job.StateAge) + " ago"
	}
	return fmt.Sprintf("Since you saw it %s: %s, version %d is now %s, version %d.", who, e.safe(seen.State), seen.Version, e.safe(r.job.State), r.job.Version)
}

// unavailable is why the verb cannot be used now, "" if it can.
func (d *actDialog) unavailable() string {
	e := d.m.env
	switch {
	case d.err != nil:
		return e.words(d.err)
	case e.readOnly() != "":
		return "read-only: " + e.readOnly()
	}
	return e.safe(e.keyed(actions.Unavailable(d.verb, d.job)))
}

func (d *actDialog) key(msg tea.KeyMsg) (bool, tea.Cmd) {
	e := d.m.env
	if !d.read || d.unavailable() != "" {
		if msg.Type == tea.KeyEsc || msg.Type == tea.KeyEnter {
			e.forget(d.name())
			return true, nil
		}
		return false, nil
	}
	switch d.form.key(e, msg) {
	case formCancelled:
		e.forget(d.name())
		return true, nil
	case formDone:
		e.forget(d.name())
		return true, d.m.send(d.order())
	case formOpen:
	}
	return false, nil
}

// order is what was asked for, bound to the job as the dialog shows it.
func (d *actDialog) order() actions.Order {
	o := actions.Order{
		Verb: d.verb, JobID: d.job.ID, SeenState: actions.State(d.job.State), SeenVersion: d.job.Version,
		Reason: strings.TrimSpace(d.reason.field.value()), Confirmations: d.asks.Confirmations(),
	}
	if d.asks.Receipt {
		o.ReceiptID = strings.TrimSpace(d.receipt.field.value())
	}
	if d.found != nil {
		o.Lookup = d.found.record
	}
	return o
}

func (d *actDialog) title() string {
	e := d.m.env
	return d.verb.Title() + " " + e.charset().TruncateMiddle(e.safe(d.id), 50)
}

func (d *actDialog) wants() int { return 76 }

func (d *actDialog) hints() []hint {
	if !d.read || d.unavailable() != "" {
		return []hint{{"esc", "close"}}
	}
	return d.form.hints()
}

func (d *actDialog) lines(width, height int) []theme.Line {
	e := d.m.env
	head := jobLines(e, d.job, width)
	if d.changed != "" {
		head = append(head, paragraph(theme.Bad, d.changed, width)...)
	}
	if !d.read {
		if d.err != nil {
			return append(head, paragraph(theme.Bad, e.words(d.err)+"; it is tried again", width)...)
		}
		return append(head, paragraph(theme.Dim, "reading the job afresh", width)...)
	}
	if why := d.unavailable(); why != "" {
		return append(head, paragraph(theme.Warn, d.verb.Title()+" cannot be used: "+why, width)...)
	}
	preview := strings.TrimPrefix(actions.Preview(d.verb, d.job), d.job.Kind+" "+d.job.ID+" ")
	head = append(head, paragraph(theme.Plain, "It "+e.safe(preview)+".", width)...)
	if warning := actions.Warning(d.verb, d.job); warning != "" {
		head = append(head, paragraph(theme.Warn, capital(e.safe(e.keyed(warning)))+".", width)...)
	}
	if d.found != nil {
		head = append(head, paragraph(theme.Info, "Looked up: "+d.found.line, width)...)
	}
	tail := d.form.lines(e, width)
	if len(head)+len(tail) < height {
		head = append(head, theme.Line{})
	}
	return headAndTail(e, head, tail, height)
}

// headAndTail fits what is explained and what is asked into a height: what is asked stays.
func headAndTail(e *env, head, tail []theme.Line, height int) []theme.Line {
	if n := len(tail); len(head)+n > height && n > 2 && tail[n-2].Width() == 0 {
		tail = slices.Delete(tail, n-2, n-1) // what is wrong with a field, which nothing is
	}
	room := height - len(tail)
	if len(head) > room && room > 0 {
		head = head[:room]
		var more theme.Line
		head[room-1] = *more.Append(head[room-1]).Add(theme.Dim, " "+e.charset().Ellipsis())
	}
	return append(head[:max(0, min(len(head), room))], tail...)
}

// jobLines are a job's facts and its verdict, as dialogs begin with.
func jobLines(e *env, job store.Job, width int) []theme.Line {
	var facts theme.Line
	facts.Add(theme.Plain, e.charset().Line(job.Kind, 30)+"   "+e.safe(job.State)+", version "+text.Count(job.Version)+"   attempt "+
		fmt.Sprintf("%d of %d", job.Attempt, job.MaxAttempts))
	lines := []theme.Line{facts}
	reading := e.safe(actions.Reading(job)[0]) + "."
	verdict := actions.Headline(job.Evidence)
	for i, part := range text.Wrap(verdict+": "+reading, width) {
		var l theme.Line
		if rest, ok := strings.CutPrefix(part, verdict); ok && i == 0 {
			l.Add(theme.OfVerdict(job.Evidence), verdict).Add(theme.Plain, rest)
		} else {
			l.Add(theme.Plain, part)
		}
		lines = append(lines, l)
	}
	return lines
}

// production: the profile asks for its name before every act.
func (e *env) production() bool {
	return e.Profile != "" && e.Config.Profiles[e.Profile].Production
}
