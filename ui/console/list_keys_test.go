package console

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// Wide columns that do not fit are not asked for in silence.
func TestWideWithoutRoomSaysSo(t *testing.T) {
	for _, view := range []string{"stuck", "jobs", "actions"} {
		d := start(t, scene(), 60, 15)
		d.run(d.m.run(view))
		before := d.view()[4]
		for range 2 {
			d.press("w")
			d.wants("a terminal 60 wide has no room for more columns")
		}
		d.send(tea.WindowSizeMsg{Width: 220, Height: 40})
		if view != "actions" {
			d.lacks("effect key")
		}
		narrow := d.text()
		d.press("w")
		d.lacks("has no room")
		if d.text() == narrow {
			t.Errorf("%s: w shows nothing more in 220 columns:\n%s", view, narrow)
		}
		// On a terminal that shrank it is as it was, and the key says why.
		d.send(tea.WindowSizeMsg{Width: 60, Height: 15})
		d.press("w")
		d.wants("a terminal 60 wide has no room for more columns")
		if got := d.view()[4]; got != before {
			t.Errorf("%s: the columns are %q, and were %q", view, got, before)
		}
	}
}
