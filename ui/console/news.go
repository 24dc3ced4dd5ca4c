package console

import (
	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
)

// news is what newly needs a person and was not looked at yet.
type news struct{ unseen map[string]bool }

func (n *news) of(view string) bool { return n.unseen[view] }

func (n *news) seen(view string) { delete(n.unseen, view) }

// notice marks the screens on which something new needs a person, and rings the bell.
func (m *model) notice(before, now store.Poll) tea.Cmd {
	grew := map[string]bool{
		"stuck":  now.Stuck.N > before.Stuck.N,
		"review": stateCount(now, "review").Count.N > stateCount(before, "review").Count.N,
	}
	ring := false
	for view, more := range grew {
		if !more {
			continue
		}
		ring = true
		if off := m.env.Config.Mark != nil && !*m.env.Config.Mark; !off && m.screen().place().view != view {
			if m.news.unseen == nil {
				m.news.unseen = map[string]bool{}
			}
			m.news.unseen[view] = true
		}
	}
	if !ring || m.env.Output == nil || (m.env.Config.Bell != nil && !*m.env.Config.Bell) {
		return nil
	}
	out := m.env.Output
	return func() tea.Msg {
		_, _ = out.Write([]byte("\a"))
		return nil
	}
}
