package console

import (
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/theme"
)

// prompt is a line that is typed at the foot of the screen: a filter, a command.
type prompt struct {
	label   string
	field   field
	past    *[]string // what was entered before, the newest last
	recall  int       // how far back, 0: not at all
	draft   string    // what was typed before recalling
	changed func(string)
	enter   func(string) tea.Cmd
	cancel  func()
	// complete proposes whole lines for what was typed; nil: none.
	complete func(string) []string
	offers   []string
	offer    int
	problem  string
}

func newPrompt(label, value string, past *[]string) *prompt {
	return &prompt{label: label, field: newField(value), past: past, offer: -1}
}

func (p *prompt) key(m *model, msg tea.KeyMsg) tea.Cmd {
	switch msg.String() {
	case "esc":
		m.prompt = nil
		if p.cancel != nil {
			p.cancel()
		}
		return nil
	case "enter":
		m.prompt = nil
		line := p.field.value()
		p.remember(line)
		return p.enter(line)
	case "up", "ctrl+p":
		p.step(1)
		return nil
	case "down", "ctrl+n":
		p.step(-1)
		return nil
	case "tab", "shift+tab":
		p.tab(msg.Type == tea.KeyShiftTab)
		return nil
	case "backspace":
		if p.field.value() == "" {
			return p.key(m, tea.KeyMsg{Type: tea.KeyEsc})
		}
	}
	if p.field.key(msg) {
		p.edited()
		p.recall = 0
	}
	return nil
}

func (p *prompt) edited() {
	p.offers, p.offer = nil, -1
	if p.changed != nil {
		p.changed(p.field.value())
	}
}

// tab goes through the completions of what was typed.
func (p *prompt) tab(back bool) {
	if p.complete == nil {
		return
	}
	if p.offers == nil {
		p.offers, p.offer = p.complete(p.field.value()), -1
	}
	if len(p.offers) == 0 {
		return
	}
	if back {
		p.offer = (max(p.offer, 0) - 1 + len(p.offers)) % len(p.offers)
	} else {
		p.offer = (p.offer + 1) % len(p.offers)
	}
	p.field.set(p.offers[p.offer])
	if len(p.offers) == 1 {
		p.edited() // a further tab completes the next word
	}
}

// step recalls what was entered before (1) or comes back (-1).
func (p *prompt) step(by int) {
	to := p.recall + by
	if p.past == nil || to < 0 || to > len(*p.past) {
		return
	}
	if p.recall == 0 {
		p.draft = p.field.value()
	}
	p.recall = to
	if to == 0 {
		p.field.set(p.draft)
	} else {
		p.field.set((*p.past)[len(*p.past)-to])
	}
	p.edited()
}

func (p *prompt) remember(line string) {
	if p.past == nil || line == "" {
		return
	}
	if n := len(*p.past); n == 0 || (*p.past)[n-1] != line {
		*p.past = append(*p.past, line)
	}
}

// view is the line, and what is wrong with it on a line of its own.
func (p *prompt) view(e *env, width int) []string {
	var l theme.Line
	l.Add(theme.Title, " "+p.label)
	l.Append(p.field.line(e, width-l.Width()-1, true))
	lines := []string{l.Draw(e.theme, width)}
	if p.problem != "" {
		lines = append(lines, e.line(theme.Warn, " "+e.safe(p.problem)))
	}
	return lines
}

func (p *prompt) hints() []hint {
	hints := []hint{{"enter", "go"}, {"esc", "cancel"}}
	if p.past != nil && len(*p.past) > 0 {
		hints = append(hints, hint{"up", "recall"})
	}
	if p.complete != nil {
		hints = append(hints, hint{"tab", "complete"})
	}
	for i, o := range p.offers {
		if i == p.offer {
			o = "[" + o + "]"
		}
		hints = append(hints, hint{"", o})
	}
	return hints
}
