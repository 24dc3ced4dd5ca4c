package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// event is one line of a job's story.
type event struct {
	at   time.Time // the database's clock, for showing and ordering
	rank int       // of events at one moment: the later one first
	what string
	role theme.Role
	rest string
	gap  string // how long after what it belongs to
}

// timeline is a job's attempts, actions and late reports as one story, newest first.
func timeline(e *env, d store.Detail) []event {
	var events []event
	for _, a := range d.Attempts {
		events = append(events, attemptEvents(d.Job, a)...)
	}
	for _, a := range d.Actions {
		events = append(events, actionEvent(a))
	}
	for _, r := range d.LateReports {
		events = append(events, lateEvent(r))
	}
	if len(d.Attempts) == d.Counts.Attempts {
		events = append(events, event{at: d.CreatedAt, what: "enqueued", rest: "as " + d.Job.Kind})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.rank, a.rank)) })
	for i := range events {
		events[i].rest = e.safe(e.charset().MaskText(events[i].rest))
		events[i].what = e.safe(events[i].what)
	}
	return events
}

func attemptEvents(job store.Job, a store.Attempt) []event {
	name := fmt.Sprintf("attempt %d", a.Attempt)
	claimed := event{at: a.ClaimedAt, rank: 1, what: name, rest: "claimed by " + a.Worker + " from " + a.ClaimedFrom}
	if a.SourceVersion != nil {
		claimed.rest += ", source " + *a.SourceVersion
	}
	if !a.RecordsIntent {
		claimed.rest += "; records no intents"
	}
	events := []event{claimed}
	if a.EffectAt != nil {
		events = append(events, event{at: *a.EffectAt, rank: 2, what: name, role: theme.Warn, rest: "intent: effect key " + job.EffectKey, gap: after(*a.EffectAt, a.ClaimedAt)})
	}
	if a.FinishedAt == nil {
		if job.HeartbeatAge != nil && a.Attempt == job.Attempt && job.State == "running" {
			last := event{at: a.ClaimedAt.Add(a.ClaimedAge - *job.HeartbeatAge), rank: 3, what: name, role: theme.Dim, rest: "last sign of life"}
			if job.StuckFor != nil {
				last.role = theme.Bad
				last.rest += ", silent for " + age(*job.HeartbeatAge)
			}
			events = append(events, last)
		}
		return events
	}
	ended := event{at: *a.FinishedAt, rank: 4, what: name, rest: outcomeOf(a), gap: after(*a.FinishedAt, a.ClaimedAt), role: attemptRole(a)}
	if a.HeartbeatAt != nil && a.FinishedAt.Sub(*a.HeartbeatAt) >= time.Second {
		ended.rest += "; last heard " + text.Duration(a.FinishedAt.Sub(*a.HeartbeatAt)) + " before"
	}
	if a.ErrorCategory != nil {
		ended.rest += "; " + *a.ErrorCategory
		if a.ErrorDetail != nil {
			first, _, _ := strings.Cut(*a.ErrorDetail, "\n")
			ended.rest += ": " + first
		}
	}
	return append(events, ended)
}

func outcomeOf(a store.Attempt) string {
	to := ""
	if a.ToState != nil {
		to = ", to " + *a.ToState
	}
	switch str(a.Outcome) {
	case "done":
		return "done"
	case "not_begun":
		return "gave up before the effect began" + to
	case "refused":
		return "refused by the provider" + to
	case "unknown":
		return "outcome unknown" + to
	case "fenced":
		return "fenced: the job was taken from it" + to
	}
	return str(a.Outcome) + to
}

func attemptRole(a store.Attempt) theme.Role {
	switch str(a.Outcome) {
	case "done":
		return theme.Good
	case "unknown":
		return theme.Warn
	}
	return theme.Plain
}

func actionEvent(a store.Action) event {
	ev := event{at: a.At, rank: 5, what: a.Operator, role: theme.Info}
	switch {
	case a.Outcome == "refused":
		ev.role = theme.Dim
		ev.rest = "wanted " + a.Verb + ", refused: " + strings.ReplaceAll(str(a.Refusal), "_", " ")
	case a.Outcome == "void":
		ev.role = theme.Dim
		ev.rest = a.Verb + " whose answer was lost; it did not happen"
	case a.Verb == "direct":
		ev.role = theme.Warn
		ev.rest = "changed by hand, past jobtop: " + str(a.FromState) + " to " + str(a.ToState)
	default:
		ev.rest = a.Verb + ": " + str(a.FromState) + " to " + str(a.ToState)
		if slices.Contains(a.Confirmations, actions.MayHaveHappened) {
			ev.rest += ", judged not to have happened"
		}
		if a.ReceiptID != nil {
			ev.rest += ", receipt " + *a.ReceiptID
		}
	}
	if a.Reason != nil && a.Verb != "direct" && a.Outcome != "void" {
		ev.rest += ": " + *a.Reason
	}
	return ev
}

func lateEvent(r store.LateReport) event {
	ev := event{at: r.At, rank: 6, what: "late report", role: theme.Warn, rest: "from " + orDash(r.Worker)}
	if r.Attempt != nil {
		ev.rest += fmt.Sprintf(" (attempt %d)", *r.Attempt)
	}
	if r.ReceiptID != nil {
		ev.rest += ": receipt " + *r.ReceiptID
	} else {
		ev.rest += ": " + strings.ReplaceAll(str(r.Effect), "_", " ")
	}
	if r.ErrorCategory != nil {
		ev.rest += ", " + *r.ErrorCategory
	}
	return ev
}

// after is how long after the beginning something was.
func after(at, beginning time.Time) string {
	return text.Duration(at.Sub(beginning)) + " after"
}

// moment writes a time of the database for this place's clock, with its day where that is
// another one than that of the newest.
func moment(at, newest time.Time) string {
	at, newest = at.Local(), newest.Local()
	if at.YearDay() == newest.YearDay() && at.Year() == newest.Year() {
		return at.Format("15:04:05")
	}
	return at.Format("01-02 15:04:05")
}

// timelineLines draws the story for a width.
func (s *jobScreen) timelineLines(width int) []theme.Line {
	e := s.m.env
	events := timeline(e, s.detail)
	stamp := 8
	for _, ev := range events {
		stamp = max(stamp, len(moment(ev.at, s.m.env.poller.poll.At)))
	}
	who := 11
	if width >= 100 {
		who = 16
	}
	var lines []theme.Line
	for _, ev := range events {
		var left, right theme.Line
		left.Add(theme.Dim, " "+text.PadRight(moment(ev.at, s.m.env.poller.poll.At), stamp)+"  ")
		left.Add(theme.Strong, text.PadRight(e.charset().Truncate(ev.what, who), who)+"  ")
		rest := ev.rest
		if ev.gap != "" {
			right.Add(theme.Dim, ev.gap+" ")
		}
		room := width - left.Width() - right.Width() - 2
		parts := text.Wrap(rest, max(room, 10))
		if len(parts) == 0 {
			parts = []string{""}
		}
		indent := left.Width()
		left.Add(ev.role, parts[0])
		lines = append(lines, theme.Spread(left, right, width))
		for _, part := range parts[1:min(len(parts), 4)] {
			var l theme.Line
			l.Gap(indent)
			l.Add(ev.role, part)
			lines = append(lines, l)
		}
	}
	if hidden := s.detail.Counts.Attempts - len(s.detail.Attempts); hidden > 0 {
		var l theme.Line
		l.Add(theme.Dim, " and "+text.Count(int64(hidden))+" older attempts, which are not read")
		lines = append(lines, l)
	}
	if hidden := s.detail.Counts.Actions - len(s.detail.Actions); hidden > 0 {
		var l theme.Line
		l.Add(theme.Dim, " and "+text.Count(int64(hidden))+" older actions; :actions job:ID lists them")
		lines = append(lines, l)
	}
	return lines
}
