package console

import (
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// pager is a dialog that shows lines and scrolls.
type pager struct {
	e      *env
	name   string
	make   func(width int) []theme.Line
	from   int
	height int
	n      int
	extra  []hint
	// other handles further keys, and reports whether the dialog is done with.
	other func(key string) (bool, tea.Cmd)
}

// newPages shows a safe text of many lines.
func newPages(e *env, name, block string) *pager {
	return &pager{e: e, name: name, make: func(width int) []theme.Line {
		var lines []theme.Line
		for _, part := range text.Wrap(block, width) {
			var l theme.Line
			l.Add(theme.Plain, part)
			lines = append(lines, l)
		}
		return lines
	}}
}

func (p *pager) key(msg tea.KeyMsg) (bool, tea.Cmd) {
	name := msg.String()
	is := func(id string) bool {
		for _, k := range p.e.keymap.Get(id).Keys {
			if k == name {
				return true
			}
		}
		return false
	}
	switch {
	case is("back"), is("quit"), is("open") && p.other == nil, is("help"):
		return true, nil
	case is("down"):
		p.from++
	case is("up"):
		p.from--
	case is("page-down"), name == " ", is("half-down"):
		p.from += max(1, p.height-1)
	case is("page-up"), is("half-up"):
		p.from -= max(1, p.height-1)
	case is("top"):
		p.from = 0
	case is("bottom"):
		p.from = p.n
	default:
		if p.other != nil {
			return p.other(name)
		}
	}
	return false, nil
}

func (p *pager) refresh() tea.Cmd { return nil }
func (p *pager) title() string    { return p.name }
func (p *pager) wants() int       { return 96 }

func (p *pager) hints() []hint {
	hints := []hint{{"esc", "close"}}
	if p.n > p.height {
		hints = append(hints, hint{p.e.keymap.Get("down").First() + " " + p.e.keymap.Get("up").First(), "scroll"})
	}
	return append(hints, p.extra...)
}

func (p *pager) lines(width, height int) []theme.Line {
	all := p.make(width)
	p.n, p.height = len(all), height
	p.from = max(0, min(p.from, len(all)-height))
	return all[p.from:min(len(all), p.from+height)]
}
