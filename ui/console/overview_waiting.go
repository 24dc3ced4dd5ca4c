package console

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// The bounds of the list of those that wait longest: it is for screens with room to spare.
const (
	waitingLeast = 3
	waitingMost  = 20
)

// readWaiting reads the jobs that wait longest for a person, where there is room for them.
func (o *overview) readWaiting() tea.Cmd {
	e := o.m.env
	if o.spare < waitingLeast || e.asking("waiting") {
		return nil
	}
	db := e.DB
	return ask(e, "waiting", func(ctx context.Context) ([]store.Job, error) {
		var all []store.Job
		for _, q := range []store.JobQuery{stuckList.query, reviewList.query} {
			q.Limit = waitingMost
			page, err := db.Jobs(ctx, q)
			if err != nil {
				return nil, err
			}
			all = append(all, page.Jobs...)
		}
		slices.SortStableFunc(all, func(a, b store.Job) int { return cmp.Compare(waited(b), waited(a)) })
		return all, nil
	}, func(jobs []store.Job, err error) tea.Cmd {
		if err == nil {
			o.waiting = jobs
		}
		return nil
	})
}

// waited is how long a job has been waiting for a person.
func waited(j store.Job) time.Duration {
	if j.StuckFor != nil {
		return *j.StuckFor
	}
	return j.StateAge
}

func (o *overview) shownWaiting() []store.Job {
	if o.spare < waitingLeast {
		return nil
	}
	return o.waiting[:min(len(o.waiting), o.spare, waitingMost)]
}

func (o *overview) waitingLines(jobs []store.Job, width int) []theme.Line {
	e := o.m.env
	var title theme.Line
	title.Add(theme.Title, " waiting longest for a person")
	lines := []theme.Line{{}, title}
	for _, j := range jobs {
		what := text.PadRight(stateWord(j), 7) + text.PadLeft(age(waited(j)), 4) + "  " +
			text.PadRight(e.charset().TruncateMiddle(e.safe(j.ID), 28), 28) + "  " + text.PadRight(e.charset().Line(j.Kind, 18), 18) + "  "
		verdict := text.PadRight(actions.VerdictWords(j.Evidence), 17)
		last, role := o.m.lastWord(j)
		var l theme.Line
		l.Add(theme.Plain, " "+what).Add(theme.OfVerdict(j.Evidence), verdict)
		l.Add(role, "  "+e.charset().Line(last, max(0, width-l.Width()-3)))
		if o.is("job " + j.ID) {
			var selected theme.Line
			selected.Add(theme.Selected, e.glyphs().Cursor+l.Text()[1:])
			l = selected
		}
		lines = append(lines, l)
	}
	return lines
}
