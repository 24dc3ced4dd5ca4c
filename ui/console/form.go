package console

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// form is the lower part of a dialog that leads to an act: fields, Cancel and the button
// that does it. Cancel has the focus at first.
type form struct {
	inputs []*input
	focus  int // of inputs, then Cancel, then the button
	button string
	quiet  quiet
	// shown is whether problems are shown: after the button was first tried.
	shown bool
}

// input is one field of a form.
type input struct {
	label string
	field field
	// check is what is wrong with the value, "" if nothing.
	check func(string) string
	// hint is shown while the field is empty.
	hint string
}

func newForm(button string, inputs ...*input) *form {
	return &form{inputs: inputs, focus: len(inputs), button: button}
}

func (f *form) cancel() int { return len(f.inputs) }
func (f *form) act() int    { return len(f.inputs) + 1 }

// set changes the fields; those that stay keep their text, and Cancel gets the focus.
func (f *form) set(inputs ...*input) {
	f.inputs, f.focus = inputs, len(inputs)
}

// keep changes the fields, and the focus stays where it is; on Cancel where its field is
// gone.
func (f *form) keep(inputs ...*input) {
	to := len(inputs) + max(0, f.focus-f.cancel())
	if f.focus < len(f.inputs) {
		if i := slices.Index(inputs, f.inputs[f.focus]); i >= 0 {
			to = i
		}
	}
	f.inputs, f.focus = inputs, to
}

// cancels gives Cancel the focus.
func (f *form) cancels() { f.focus = f.cancel() }

type formAnswer uint8

const (
	formOpen formAnswer = iota
	formCancelled
	formDone
)

func (f *form) key(e *env, msg tea.KeyMsg) formAnswer {
	if f.focus == f.act() && f.quiet.swallows(e.now()) {
		return formOpen
	}
	switch msg.String() {
	case "esc":
		return formCancelled
	case "tab", "down":
		f.move(1)
		return formOpen
	case "shift+tab", "up":
		f.move(-1)
		return formOpen
	case "enter":
		return f.enter(e)
	case "left", "right":
		if f.focus >= f.cancel() {
			f.focus = f.cancel() + f.act() - f.focus
			return formOpen
		}
	}
	if f.focus < len(f.inputs) {
		f.inputs[f.focus].field.key(msg)
		return formOpen
	}
	if typed(msg) && len(f.inputs) > 0 {
		// What is typed on a button belongs into the first field that lacks something.
		f.focus = 0
		if i := f.wrong(0); i >= 0 {
			f.focus = i
		}
		f.inputs[f.focus].field.key(msg)
	}
	return formOpen
}

func (f *form) move(by int) {
	n := f.act() + 1
	f.focus = (f.focus + by + n) % n
}

// enter goes on to what is still missing, then to the button, where a key that repeats
// does not press it.
func (f *form) enter(e *env) formAnswer {
	switch {
	case f.focus == f.cancel():
		return formCancelled
	case f.focus == f.act():
		if i := f.wrong(0); i >= 0 {
			f.focus, f.shown = i, true
			return formOpen
		}
		return formDone
	}
	f.shown = true
	if f.inputs[f.focus].check(f.inputs[f.focus].field.value()) != "" {
		return formOpen
	}
	if i := f.wrong(0); i >= 0 {
		f.focus, f.shown = i, false
		return formOpen
	}
	f.focus = f.act()
	f.quiet.begin(e.now())
	return formOpen
}

// wrong is the first field from a place on that is not right yet, -1 if none.
func (f *form) wrong(from int) int {
	for i := from; i < len(f.inputs); i++ {
		if f.inputs[i].check(f.inputs[i].field.value()) != "" {
			return i
		}
	}
	return -1
}

// lines draws the fields, what is wrong, and the buttons.
func (f *form) lines(e *env, width int) []theme.Line {
	label := 0
	for _, in := range f.inputs {
		label = max(label, text.Width(in.label))
	}
	var lines []theme.Line
	for i, in := range f.inputs {
		var l theme.Line
		role := theme.Dim
		if i == f.focus {
			role = theme.Strong
		}
		l.Add(role, text.PadRight(in.label, label)+"  ")
		l.Add(theme.Dim, e.glyphs().Caret)
		room := width - l.Width()
		if in.field.value() != "" || i == f.focus {
			l.Append(in.field.line(e, room, i == f.focus))
		}
		if in.field.value() == "" {
			if i == f.focus {
				l.Add(theme.Plain, " ") // behind the cursor
			}
			l.Add(theme.Dim, e.charset().Truncate(in.hint, max(0, width-l.Width())))
		}
		lines = append(lines, l)
	}
	var problem theme.Line
	if f.shown && f.focus < len(f.inputs) {
		in := f.inputs[f.focus]
		problem.Add(theme.Bad, e.charset().Line(capital(in.check(in.field.value())), width))
	}
	var buttons theme.Line
	cancel, act := "  Cancel  ", "  "+f.button+"  "
	cancelRole, actRole := theme.Plain, theme.Plain
	switch f.focus {
	case f.cancel():
		cancel, cancelRole = "[ Cancel ]", theme.Button
	case f.act():
		act, actRole = "[ "+f.button+" ]", theme.Button
	}
	buttons.Gap(width - text.Width(cancel) - text.Width(act) - 2)
	buttons.Add(cancelRole, cancel).Add(theme.Plain, "  ").Add(actRole, act)
	return append(lines, problem, buttons)
}

func (f *form) hints() []hint {
	switch f.focus {
	case f.cancel():
		return []hint{{"enter", "cancel"}, {"tab", "next"}, {"type", "to fill in"}, {"esc", "cancel"}}
	case f.act():
		return []hint{{"enter", f.button}, {"tab", "next"}, {"esc", "cancel"}}
	}
	return []hint{{"enter", "next"}, {"tab", "next"}, {"esc", "cancel"}}
}
