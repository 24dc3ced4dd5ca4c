package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jobtop/actions"
	"jobtop/store"
)

func edges() []store.Edge {
	var all []store.Edge
	for _, e := range actions.Edges() {
		all = append(all, store.Edge{From: string(e.From), To: string(e.To), Actor: string(e.Actor)})
	}
	return all
}

// Every screen and every dialog, at the three sizes that it is made for.
func TestGoldens(t *testing.T) {
	open := func(line string, keys ...string) func(*driver) {
		return func(d *driver) {
			d.run(d.m.run(line))
			d.press(keys...)
		}
	}
	dialog := func(line, key string, then ...string) func(*driver) {
		return func(d *driver) {
			d.run(d.m.run(line))
			d.press(key)
			d.settle()
			for _, s := range then {
				if _, ok := named[s]; ok {
					d.press(s)
				} else {
					d.typing(s)
				}
			}
		}
	}
	for name, show := range map[string]func(*driver){
		"overview":          open("overview"),
		"stuck":             open("stuck"),
		"review":            open("review"),
		"review-marked":     open("review", " ", " ", "j", " "),
		"review-wide":       open("review", "w"),
		"review-grouped":    open("review", "b", "b"),
		"review-filter":     open("review", "/", "k", "i", "n", "d"),
		"review-nothing":    open("review kind:none"),
		"jobs":              open("jobs"),
		"jobs-filtered":     open("jobs state:dead"),
		"actions":           open("actions"),
		"action":            open("actions", "tab"),
		"job":               open("job charge-10442"),
		"job-error":         open("job mail-30752", "tab"),
		"job-payload":       open("job charge-10442", "tab", "tab"),
		"job-payload-null":  open("job charge-10467", "tab", "tab"),
		"job-stuck":         open("job report-517"),
		"job-unknown":       open("job nothing-like-it"),
		"help":              dialog("review", "?"),
		"command":           open("review", ":", "r", "e"),
		"requeue-uncertain": dialog("review", "E"),
		"requeue-typing":    dialog("review", "E", "ticket 5512: no charge at the provider", "enter", "charge-104"),
		"requeue-wrong":     dialog("review", "E", "ticket", "enter", "charge-1", "enter"),
		"requeue-ready":     dialog("review", "E", "ticket", "enter", "charge-10442", "enter"),
		"requeue-safe":      dialog("review id:invoice-88140", "E"),
		"done":              dialog("review id:invoice-88121", "D"),
		"dead":              dialog("review", "X"),
		"hold-stop":         dialog("jobs id:charge-11601", "H"),
		"pause":             dialog("pause card.charge", ""),
		"resume":            dialog("resume mail.send", ""),
		"applied":           dialog("review id:invoice-88140", "E", "ticket", "enter"),
		"bulk":              func(d *driver) { open("review", "*", "E")(d); d.settle() },
		"count":             dialog("overview", "#"),
		"count-done":        dialog("overview", "#", "enter"),
		"count-running": func(d *driver) {
			open("overview", "#")(d)
			counting := d.m.env.dialogs.top().(*countDialog)
			counting.running, counting.began = true, d.clock
			counting.seen = store.Counting{State: "done", Counted: 4_200_000, Expected: 9_930_000}
			d.clock = d.clock.Add(7 * time.Second)
		},
		"bulk-done": func(d *driver) { open("review", "*", "D")(d); d.settle() },
	} {
		for _, size := range []struct{ width, height int }{{60, 15}, {80, 24}, {120, 40}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.width, size.height), func(t *testing.T) {
				d := start(t, scene(), size.width, size.height)
				show(d)
				if name == "applied" {
					d.settle()
					d.press("enter")
				}
				lines := d.view()
				if len(lines) != size.height {
					t.Errorf("%d lines on a screen of %d", len(lines), size.height)
				}
				for _, line := range lines {
					if n := len([]rune(line)); n > size.width {
						t.Errorf("a line of %d columns on a screen of %d: %q", n, size.width, line)
					}
				}
				golden(t, fmt.Sprintf("%s-%dx%d", name, size.width, size.height), strings.Join(lines, "\n")+"\n")
			})
		}
	}
}
