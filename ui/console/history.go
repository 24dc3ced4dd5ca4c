package console

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"
)

// history is where one has been, as a browser keeps it.
type history struct {
	places []place
	at     int
}

// historyLimit bounds how far back one can go.
const historyLimit = 100

// visit notes a place; what lay ahead is forgotten.
func (h *history) visit(p place) {
	if len(h.places) > 0 && h.places[h.at] == p {
		return
	}
	if len(h.places) > 0 {
		h.places = h.places[:h.at+1]
	}
	h.places = append(h.places, p)
	if over := len(h.places) - historyLimit; over > 0 {
		h.places = slices.Delete(h.places, 0, over)
	}
	h.at = len(h.places) - 1
}

func (h *history) why(direction int) string {
	switch to := h.at + direction; {
	case to < 0 || len(h.places) == 0:
		return "nothing before this"
	case to >= len(h.places):
		return "nothing after this"
	}
	return ""
}

func (h *history) back() place {
	h.at--
	return h.places[h.at]
}

func (h *history) forward() place {
	h.at++
	return h.places[h.at]
}

// visit goes to a place and notes it in the history.
func (m *model) visit(p place) tea.Cmd {
	cmd := m.goTo(p, false)
	m.history.visit(m.screen().place())
	return cmd
}

// comeBack goes to a main screen as it was left, and notes it in the history.
func (m *model) comeBack(view string) tea.Cmd {
	cmd := m.goTo(place{view: view}, true)
	m.history.visit(m.screen().place())
	return cmd
}

// goTo makes a place the one on top. The main screens stand right below the overview, a
// job on whatever it was opened from.
func (m *model) goTo(p place, left bool) tea.Cmd {
	overview := m.trail[0]
	if p.view == "job" {
		s := newJobScreen(m, p.argument)
		if _, already := m.screen().(*jobScreen); already {
			m.trail = m.trail[:len(m.trail)-1]
		}
		m.trail = append(m.trail, s)
		return s.enter(p.argument, left)
	}
	s := m.screens[p.view]
	m.trail = []screen{overview}
	if s != overview {
		m.trail = append(m.trail, s)
	}
	m.news.seen(p.view)
	return s.enter(p.argument, left)
}
