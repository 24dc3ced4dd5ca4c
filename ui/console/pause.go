package console

import (
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/uuid"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// pauseDialog asks for the reason of a pause of a kind, or of its end.
type pauseDialog struct {
	m      *model
	kind   string
	pause  bool
	form   *form
	reason *input
	lasts  *input
}

// openPause asks before a kind is paused, or resumed.
func (m *model) openPause(kind string, pause bool) tea.Cmd {
	e := m.env
	if reason := e.readOnly(); reason != "" {
		e.say(theme.Warn, "read-only: "+reason)
		return nil
	}
	d := &pauseDialog{m: m, kind: kind, pause: pause}
	d.reason = &input{label: "reason", field: newField(""), hint: "why; kept with the action", check: problem(actions.ValidReason)}
	inputs := []*input{d.reason}
	button := "Resume"
	if pause {
		button = "Pause"
		d.lasts = &input{label: "for", field: newField(""), hint: "30m, 2h; empty: until somebody resumes it", check: func(s string) string {
			if strings.TrimSpace(s) == "" {
				return ""
			}
			_, err := filter.ParseAge(strings.TrimSpace(s))
			return e.words(err)
		}}
		inputs = append(inputs, d.lasts)
	}
	if e.production() {
		inputs = append(inputs, &input{label: "profile", field: newField(""), hint: "type " + e.safe(e.Profile), check: same("the profile's name", e.Profile)})
	}
	d.form = newForm(button, inputs...)
	e.dialogs.push(e, d)
	return nil
}

func (d *pauseDialog) title() string {
	if d.pause {
		return "Pause " + d.m.env.safe(d.kind)
	}
	return "Resume " + d.m.env.safe(d.kind)
}

func (d *pauseDialog) refresh() tea.Cmd { return nil }
func (d *pauseDialog) wants() int       { return 72 }
func (d *pauseDialog) hints() []hint    { return d.form.hints() }

func (d *pauseDialog) lines(width, height int) []theme.Line {
	what := "No worker claims jobs of this kind any more. What is running runs on; what is due waits."
	if !d.pause {
		what = "Workers may claim jobs of this kind again."
	}
	head := paragraph(theme.Plain, what, width)
	for _, p := range d.m.env.poller.poll.Paused {
		if p.Kind == d.kind {
			head = append(head, paragraph(theme.Warn, d.m.env.safe("Paused "+age(p.SinceAge)+" ago by "+p.By+": "+p.Reason), width)...)
		}
	}
	return headAndTail(d.m.env, append(head, theme.Line{}), d.form.lines(d.m.env, width), height)
}

func (d *pauseDialog) key(msg tea.KeyMsg) (bool, tea.Cmd) {
	switch d.form.key(d.m.env, msg) {
	case formCancelled:
		return true, nil
	case formDone:
		return true, d.send()
	case formOpen:
	}
	return false, nil
}

// send pauses or resumes, again and again under one action id while its answer is lost:
// with that it happens once.
func (d *pauseDialog) send() tea.Cmd {
	m, e := d.m, d.m.env
	request := store.PauseRequest{
		ActionID: uuid.NewString(), Kind: d.kind, Operator: e.Runner.Operator, Client: e.Runner.Client,
		Reason: strings.TrimSpace(d.reason.field.value()),
	}
	if d.lasts != nil {
		request.For, _ = filter.ParseAge(strings.TrimSpace(d.lasts.field.value()))
	}
	call, verb := e.DB.Pause, "paused"
	if !d.pause {
		call, verb = e.DB.Resume, "resumed"
	}
	ctx := e.ctx
	e.ledger.sending++
	e.say(theme.Info, d.title()+": sending")
	return func() tea.Msg {
		const tries = 4
		var did bool
		var err error
		for range tries {
			did, err = call(ctx, request)
			var unknown *store.UnknownError
			if !errors.As(err, &unknown) || ctx.Err() != nil {
				break
			}
		}
		return progress{func() tea.Cmd {
			m.arrived()
			var unknown *store.UnknownError
			switch {
			case errors.As(err, &unknown):
				e.say(theme.Warn, "unknown whether "+d.kind+" was "+verb+" (action "+request.ActionID+"): the answer was lost; the overview shows what is paused")
			case err != nil:
				e.say(theme.Bad, d.kind+" was not "+verb+": "+err.Error())
			case !did:
				e.say(theme.Warn, d.kind+" was not paused")
			case d.pause && request.For > 0:
				e.say(theme.Good, d.kind+" is paused for "+text.Duration(request.For)+". :resume "+d.kind+" ends it")
			default:
				e.say(theme.Good, d.kind+" is "+verb)
			}
			return tea.Batch(m.look(), m.refreshAll())
		}}
	}
}
