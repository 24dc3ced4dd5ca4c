package console

import (
	"strconv"
	"time"

	"jobtop/actions"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

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
	now := e.poller.poll.At
	events := actions.Timeline(s.detail)
	stamp := 8
	for _, ev := range events {
		stamp = max(stamp, len(moment(ev.At, now)))
	}
	subject := max(11, len("attempt "+strconv.Itoa(s.detail.Job.Attempt)))
	if width >= 100 {
		subject = max(16, subject)
	}
	var lines []theme.Line
	for _, ev := range events {
		var left, right theme.Line
		left.Add(theme.Dim, " "+text.PadRight(moment(ev.At, now), stamp)+"  ")
		left.Add(theme.Strong, text.PadRight(e.charset().Line(ev.Subject, subject), subject)+"  ")
		if ev.After != nil {
			right.Add(theme.Dim, text.Duration(*ev.After)+" after ")
		}
		indent := left.Width()
		parts := text.Wrap(eventText(e, ev), max(width-indent-right.Width()-2, 10))
		for i, part := range parts[:min(len(parts), 4)] {
			if i == 0 {
				left.Add(theme.OfWeight(ev.Weight), part)
				lines = append(lines, theme.Spread(left, right, width))
				continue
			}
			var l theme.Line
			l.Gap(indent)
			lines = append(lines, *l.Add(theme.OfWeight(ev.Weight), part))
		}
	}
	if hidden := s.detail.Counts.Attempts - len(s.detail.Attempts); hidden > 0 {
		var l theme.Line
		l.Add(theme.Dim, " and "+text.Count(int64(hidden))+" other attempts, which are not read")
		lines = append(lines, l)
	}
	if hidden := s.detail.Counts.Actions - len(s.detail.Actions); hidden > 0 {
		var l theme.Line
		l.Add(theme.Dim, " and "+text.Count(int64(hidden))+" older actions; :actions job:ID lists them")
		lines = append(lines, l)
	}
	return lines
}

// eventText is what an event says, masked and safe.
func eventText(e *env, ev actions.Event) string {
	s := ev.What
	if ev.Silent {
		s += ", silent for " + age(ev.Age)
	}
	if ev.Note != "" {
		s += ", " + ev.Note
	}
	return e.safe(e.charset().MaskText(s))
}
