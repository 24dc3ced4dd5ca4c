package console

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// wrapped is the section that is shown, made into lines for a width.
type wrapped struct {
	width, section int
	n              int // lines
	line           func(i int) theme.Line
}

// wrappedLines are lines that are there already.
func wrappedLines(lines []theme.Line) wrapped {
	return wrapped{n: len(lines), line: func(i int) theme.Line { return lines[i] }}
}

// wrappedText is a safe text, wrapped with a margin.
func wrappedText(block string, width int) wrapped {
	parts := text.Wrap(block, max(1, width-2))
	return wrapped{n: len(parts), line: func(i int) theme.Line {
		var l theme.Line
		return *l.Add(theme.Plain, " "+parts[i])
	}}
}

// payload is what a job carries, once it was asked for.
type payload struct {
	read bool
	text string // masked and safe
	err  error
}

// readPayload reads, masks and cleans the payload, outside of Update: it may be large.
func (s *jobScreen) readPayload() tea.Cmd {
	e := s.m.env
	db, id, charset := e.DB, s.id, e.charset()
	return ask(e, "payload "+id, func(ctx context.Context) (string, error) {
		raw, err := db.Payload(ctx, id)
		if err != nil {
			return "", err
		}
		if raw == nil {
			return "NULL (this job carries nothing)", nil
		}
		shown, invalid := charset.MaskJSON(raw)
		return strings.Join(append(lineOf(invalid), shown), "\n\n"), nil
	}, func(shown string, err error) tea.Cmd {
		s.payload = payload{read: err == nil, text: shown, err: err}
		s.wrapped = wrapped{}
		return nil
	})
}

// lineOf is what is wrong with a payload, as a paragraph before it.
func lineOf(invalid error) []string {
	if invalid == nil {
		return nil
	}
	return []string{invalid.Error()}
}

// wrap makes the section into lines, once for each width and each reading.
func (s *jobScreen) wrap(width int) {
	if s.wrapped.line != nil && s.wrapped.width == width && s.wrapped.section == s.section {
		return
	}
	switch jobSections[s.section] {
	case "timeline":
		s.wrapped = wrappedLines(s.timelineLines(width))
	case "error":
		s.wrapped = wrappedText(s.errors, width)
	case "payload":
		s.wrapped = s.wrapPayload(width)
	}
	s.wrapped.width, s.wrapped.section = width, s.section
}

// errorText is a job's error, masked and safe.
func errorText(charset text.Charset, j store.Job) string {
	if j.ErrorCategory == nil && j.ErrorDetail == nil {
		return "no error is recorded"
	}
	shown := charset.Sanitize(orDash(j.ErrorCategory))
	if j.ErrorDetail == nil {
		return shown + "\n\nNULL (no detail)"
	}
	return shown + "\n\n" + charset.SanitizeBlock(charset.MaskText(*j.ErrorDetail))
}

func (s *jobScreen) wrapPayload(width int) wrapped {
	switch {
	case s.payload.err != nil:
		return wrappedText(s.m.env.words(s.payload.err), width)
	case !s.payload.read:
		return wrappedText("reading", width)
	}
	return wrappedText(s.payload.text, width)
}

// drawn draws a line of the section, with what is searched for made plain.
func (s *jobScreen) drawn(i, width int) string {
	e, line := s.m.env, s.wrapped.line(i)
	if s.query == "" {
		return line.Draw(e.theme, width)
	}
	whole := line.Text()
	at := strings.Index(strings.ToLower(whole), strings.ToLower(s.query))
	if at < 0 || at+len(s.query) > len(whole) {
		return line.Draw(e.theme, width)
	}
	var l theme.Line
	l.Add(theme.Plain, whole[:at]).Add(theme.Selected, whole[at:at+len(s.query)]).Add(theme.Plain, whole[at+len(s.query):])
	return l.Draw(e.theme, width)
}

// askSearch searches in the section.
func (s *jobScreen) askSearch() tea.Cmd {
	p := newPrompt("/", "", &s.past)
	p.enter = func(query string) tea.Cmd {
		s.query = query
		if query == "" {
			return nil
		}
		return s.match(0)
	}
	s.m.prompt = p
	return nil
}

func (s *jobScreen) noMatch() string {
	if s.query == "" {
		return "search with " + s.m.env.first("filter") + " first"
	}
	return ""
}

// match scrolls to the next (1), the one before (-1) or the nearest (0) line that holds
// what is searched for.
func (s *jobScreen) match(direction int) tea.Cmd {
	n, query := s.wrapped.n, strings.ToLower(s.query)
	step := direction
	if direction == 0 {
		step = 1
	}
	for i := range n {
		at := ((s.scrolled+direction+i*step)%n + n) % n
		line := s.wrapped.line(at)
		if strings.Contains(strings.ToLower(line.Text()), query) {
			s.scroll(at)
			if s.scrolled != at { // the end of the text does not scroll that far
				s.m.env.say(theme.Plain, "found on line "+text.Count(int64(at+1)))
			}
			return nil
		}
	}
	s.m.env.say(theme.Warn, "not found in the "+jobSections[s.section]+s.unsearched()+": "+s.query)
	return nil
}

// unsearched is what of the section was not read, and so not searched either.
func (s *jobScreen) unsearched() string {
	if jobSections[s.section] != "timeline" {
		return ""
	}
	var parts []string
	add := func(all, read int, what string) {
		if all > read {
			parts = append(parts, text.Count(int64(all-read))+" "+what)
		}
	}
	add(s.detail.Counts.Attempts, len(s.detail.Attempts), "other attempts")
	add(s.detail.Counts.Actions, len(s.detail.Actions), "older actions")
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, " and ") + " were not read)"
}

// missing says that there is no such job: with the id as the screen writes ids, whole, and
// with what can be typed here.
func (s *jobScreen) missing(width, height int) []string {
	e := s.m.env
	lines := []string{""}
	add := func(role theme.Role, said string) {
		for _, l := range paragraph(role, said, max(1, width-2)) {
			lines = append(lines, e.line(role, " "+l.Text()))
		}
	}
	add(theme.Warn, "There is no job "+e.safe(s.id)+".")
	add(theme.Dim, "Ids are told apart to the letter; :jobs and how an id begins finds it.")
	return lines[:min(len(lines), height)]
}
