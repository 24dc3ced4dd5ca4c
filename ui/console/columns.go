package console

import (
	"cmp"
	"fmt"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/table"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// jobColumns are all columns of a list of jobs. Each list shows some, the wide one more.
func (m *model) jobColumns() map[string]table.Column[store.Job] {
	e := m.env
	by := func(of func(*store.Job) string) func(a, b *store.Job) int {
		return func(a, b *store.Job) int { return cmp.Compare(of(a), of(b)) }
	}
	oldest := func(of func(*store.Job) time.Duration) func(a, b *store.Job) int {
		return func(a, b *store.Job) int { return cmp.Compare(of(b), of(a)) }
	}
	plain := func(of func(store.Job) string) func(store.Job) (string, theme.Role) {
		return func(j store.Job) (string, theme.Role) { return of(j), theme.Plain }
	}
	dim := func(of func(store.Job) string) func(store.Job) (string, theme.Role) {
		return func(j store.Job) (string, theme.Role) { return of(j), theme.Dim }
	}
	list := []table.Column[store.Job]{
		{ID: "id", Title: "id", Min: 14, Max: 40, Middle: true,
			Cell: plain(func(j store.Job) string { return j.ID }), Compare: by(func(j *store.Job) string { return j.ID })},
		{ID: "kind", Title: "kind", Min: 8, Max: 24, Drop: 5,
			Cell: plain(func(j store.Job) string { return j.Kind }), Compare: by(func(j *store.Job) string { return j.Kind })},
		{ID: "state", Title: "state", Min: 7, Drop: 1,
			Cell:    func(j store.Job) (string, theme.Role) { return stateWord(j), stateRole(j) },
			Compare: by(func(j *store.Job) string { return j.State })},
		{ID: "verdict", Title: "verdict", Min: 17, Drop: 2,
			Cell: func(j store.Job) (string, theme.Role) {
				return actions.VerdictWords(j.Evidence), theme.OfVerdict(j.Evidence)
			},
			Compare: func(a, b *store.Job) int { return cmp.Compare(verdictRank(a.Evidence), verdictRank(b.Evidence)) }},
		{ID: "try", Title: "try", Min: 3, Max: 7, Right: true, Drop: 5,
			Cell:    plain(func(j store.Job) string { return fmt.Sprintf("%d/%d", j.Attempt, j.MaxAttempts) }),
			Compare: func(a, b *store.Job) int { return cmp.Compare(a.Attempt, b.Attempt) }},
		{ID: "since", Title: "since", Min: 5, Right: true, Drop: 3,
			Cell:    func(j store.Job) (string, theme.Role) { return age(j.StateAge), theme.Plain },
			Compare: oldest(func(j *store.Job) time.Duration { return j.StateAge })},
		{ID: "over", Title: "over", Min: 4, Max: 5, Right: true, Drop: 3,
			Cell:    func(j store.Job) (string, theme.Role) { return ageOf(j.StuckFor), theme.Bad },
			Compare: oldest(func(j *store.Job) time.Duration { return value(j.StuckFor) })},
		{ID: "silent", Title: "silent", Min: 6, Right: true, Drop: 4,
			Cell:    func(j store.Job) (string, theme.Role) { return silence(j) },
			Compare: oldest(func(j *store.Job) time.Duration { return value(j.HeartbeatAge) })},
		{ID: "worker", Title: "worker", Min: 6, Max: 18, Drop: 7,
			Cell: plain(func(j store.Job) string { return orDash(j.Worker) }), Compare: by(func(j *store.Job) string { return str(j.Worker) })},
		{ID: "effect", Title: "effect key", Min: 10, Max: 30, Drop: 9, Wide: true, Middle: true,
			Cell: dim(func(j store.Job) string { return j.EffectKey }), Compare: by(func(j *store.Job) string { return j.EffectKey })},
		{ID: "version", Title: "source", Min: 6, Max: 14, Drop: 10, Wide: true,
			Cell: dim(func(j store.Job) string { return orDash(j.SourceVersion) }), Compare: by(func(j *store.Job) string { return str(j.SourceVersion) })},
		{ID: "created", Title: "created", Min: 7, Right: true, Drop: 11, Wide: true,
			Cell:    dim(func(j store.Job) string { return age(j.CreatedAge) }),
			Compare: oldest(func(j *store.Job) time.Duration { return j.CreatedAge })},
		{ID: "last word", Title: "last word", Min: 12, Grow: true, Drop: 6,
			Cell:    m.lastWord,
			Compare: by(func(j *store.Job) string { return str(j.ErrorCategory) })},
	}
	columns := map[string]table.Column[store.Job]{}
	for _, c := range list {
		columns[c.ID] = c
	}
	_ = e
	return columns
}

// lastWord is what a lookup told, or else what the job last said itself.
func (m *model) lastWord(j store.Job) (string, theme.Role) {
	if m.findings[j.ID] != nil {
		return "looked up: " + m.findings[j.ID].line, theme.Info
	}
	switch ev := j.Evidence; {
	case ev.ReceiptID != nil:
		return "receipt " + *ev.ReceiptID, theme.Good
	case j.ErrorCategory != nil:
		s := *j.ErrorCategory
		if j.ErrorDetail != nil && *j.ErrorDetail != "" {
			s += ": " + m.env.charset().MaskText(*j.ErrorDetail)
		}
		return s, theme.Plain
	case j.State == "pending" && j.DueFor < 0:
		return "due in " + text.Age(-j.DueFor), theme.Dim
	case j.State == "running" && j.Progress != nil:
		return "progress " + text.Count(*j.Progress) + ", " + ageOf(j.ProgressAge) + " ago", theme.Dim
	}
	return "", theme.Plain
}

func value(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

func orDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

func stateWord(j store.Job) string {
	if j.StuckFor != nil {
		return "stuck"
	}
	return j.State
}

func stateRole(j store.Job) theme.Role {
	switch {
	case j.StuckFor != nil, j.State == "dead":
		return theme.Bad
	case j.State == "review", j.State == "failed":
		return theme.Warn
	case j.State == "done":
		return theme.Good
	}
	return theme.Plain
}

// silence is the time since the last heartbeat, or since the last progress where it is
// that which stands still.
func silence(j store.Job) (string, theme.Role) {
	if j.HeartbeatAge == nil {
		return "-", theme.Dim
	}
	if *j.HeartbeatAge > j.HeartbeatTimeout {
		return age(*j.HeartbeatAge), theme.Bad
	}
	return age(*j.HeartbeatAge), theme.Plain
}

// verdictRank orders verdicts by how much they leave open.
func verdictRank(ev store.Evidence) int {
	for i, v := range []string{store.VerdictMayHaveHappened, store.VerdictNotKnown, store.VerdictHappened, store.VerdictDidNotHappen} {
		if ev.Verdict == v {
			return i
		}
	}
	return 4
}
