package console

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// wrapped is the section that is shown, made into lines for a width.
type wrapped struct {
	width, section int
	lines          []theme.Line
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
	if s.wrapped.lines != nil && s.wrapped.width == width && s.wrapped.section == s.section {
		return
	}
	var lines []theme.Line
	switch jobSections[s.section] {
	case "timeline":
		lines = s.timelineLines(width)
	case "error":
		lines = s.textLines(s.errorText(), width)
	case "payload":
		lines = s.payloadLines(width)
	}
	s.wrapped = wrapped{width: width, section: s.section, lines: lines}
}

func (s *jobScreen) errorText() string {
	e, j := s.m.env, s.detail.Job
	if j.ErrorCategory == nil && j.ErrorDetail == nil {
		return "no error is recorded"
	}
	shown := e.safe(orDash(j.ErrorCategory))
	if j.ErrorDetail == nil {
		return shown + "\n\nNULL (no detail)"
	}
	return shown + "\n\n" + e.charset().SanitizeBlock(e.charset().MaskText(*j.ErrorDetail))
}

func (s *jobScreen) payloadLines(width int) []theme.Line {
	switch {
	case s.payload.err != nil:
		return paragraph(theme.Warn, s.m.env.words(s.payload.err), width-2)
	case !s.payload.read:
		return paragraph(theme.Dim, "reading", width-2)
	}
	return s.textLines(s.payload.text, width)
}

// textLines wraps safe text, with a margin.
func (s *jobScreen) textLines(block string, width int) []theme.Line {
	parts := text.Wrap(block, max(1, width-2))
	lines := make([]theme.Line, len(parts))
	for i, part := range parts {
		lines[i].Add(theme.Plain, " "+part)
	}
	return lines
}

// drawn draws a line of the section, with what is searched for made plain.
func (s *jobScreen) drawn(i, width int) string {
	e, line := s.m.env, s.wrapped.lines[i]
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
		return "search with / first"
	}
	return ""
}

// match scrolls to the next (1), the one before (-1) or the nearest (0) line that holds
// what is searched for.
func (s *jobScreen) match(direction int) tea.Cmd {
	n, query := len(s.wrapped.lines), strings.ToLower(s.query)
	step := direction
	if direction == 0 {
		step = 1
	}
	for i := range n {
		at := ((s.scrolled+direction+i*step)%n + n) % n
		if strings.Contains(strings.ToLower(s.wrapped.lines[at].Text()), query) {
			s.scroll(at)
			if s.scrolled != at { // the end of the text does not scroll that far
				s.m.env.say(theme.Plain, "found on line "+text.Count(int64(at+1)))
			}
			return nil
		}
	}
	s.m.env.say(theme.Warn, "not found in the "+jobSections[s.section]+": "+s.query)
	return nil
}
