package console

import (
	"context"
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// jobScreen is one job: the verdict, the facts, and below them a section: its timeline,
// its error or its payload. It follows the job live.
type jobScreen struct {
	m  *model
	id string

	detail store.Detail
	errors string // the error, masked and safe, of many lines
	read   bool
	err    error

	section  int // of jobSections
	scrolled int // the first line of the section that is shown
	room     int // how many lines of it the last view had room for
	wrapped  wrapped
	query    string // what is searched for in the section, "" for nothing
	past     []string

	payload payload
}

var jobSections = []string{"timeline", "error", "payload"}

func newJobScreen(m *model, id string) *jobScreen {
	return &jobScreen{m: m, id: id}
}

func (s *jobScreen) place() place { return place{"job", s.id} }

func (s *jobScreen) name() string { return "job " + s.id }

func (s *jobScreen) enter(string, bool) tea.Cmd { return s.refresh() }

func (s *jobScreen) refresh() tea.Cmd {
	e := s.m.env
	if e.asking(s.name()) {
		return nil
	}
	db, id, charset := e.DB, s.id, e.charset()
	before, shown := s.detail.Job, s.errors
	return ask(e, s.name(), func(ctx context.Context) (jobReading, error) {
		d, err := db.Job(ctx, id)
		// A megabyte of error takes a while to be made safe: here, and once.
		if err == nil && (shown == "" || str(d.Job.ErrorDetail) != str(before.ErrorDetail) || str(d.Job.ErrorCategory) != str(before.ErrorCategory)) {
			shown = errorText(charset, d.Job)
		}
		return jobReading{d, shown}, err
	}, s.got)
}

// jobReading is what a reading of a job brings.
type jobReading struct {
	detail store.Detail
	errors string
}

func (s *jobScreen) got(r jobReading, err error) tea.Cmd {
	s.err = err
	if err != nil {
		return nil
	}
	d := r.detail
	if s.read && d.Job.Version != s.detail.Job.Version {
		who := "somebody"
		if d.ChangedBy != nil {
			who = *d.ChangedBy
		}
		s.m.env.say(theme.Info, s.detail.Job.State+" became "+d.Job.State+", by "+who)
	}
	if jobSections[s.section] == "timeline" || s.errors != r.errors {
		s.wrapped = wrapped{}
	}
	s.detail, s.errors, s.read = d, r.errors, true
	return nil
}

func (s *jobScreen) info() string {
	if !s.read {
		return ""
	}
	return "version " + text.Count(s.detail.Job.Version) + "  " + s.m.env.glyphs().Dot + "  " + jobSections[s.section]
}

// clear ends a search in the section.
func (s *jobScreen) clear() bool {
	had := s.query != ""
	s.query = ""
	return had
}

func (s *jobScreen) target() (store.Job, bool) { return s.detail.Job, s.read }

func (s *jobScreen) bindings() []binding {
	e := s.m.env
	scroll := func(by func() int) func() tea.Cmd { return does(func() { s.scroll(s.scrolled + by()) }) }
	own := []binding{
		e.bind("section", 10, func() tea.Cmd { return s.turn(1) }, nil),
		e.bind("section-back", 0, func() tea.Cmd { return s.turn(-1) }, nil),
		e.bind("down", 0, scroll(func() int { return 1 }), nil),
		e.bind("up", 0, scroll(func() int { return -1 }), nil),
		e.bind("top", 0, does(func() { s.scroll(0) }), nil),
		e.bind("bottom", 0, does(func() { s.scroll(s.wrapped.n) }), nil),
		e.bind("half-down", 0, scroll(func() int { return s.room / 2 }), nil),
		e.bind("half-up", 0, scroll(func() int { return -s.room / 2 }), nil),
		e.bind("page-down", 0, scroll(func() int { return s.room }), nil),
		e.bind("page-up", 0, scroll(func() int { return -s.room }), nil),
		e.bind("filter", 60, s.askSearch, nil),
		e.bind("next-match", 0, func() tea.Cmd { return s.match(1) }, s.noMatch),
		e.bind("previous-match", 0, func() tea.Cmd { return s.match(-1) }, s.noMatch),
		e.bind("copy", 0, func() tea.Cmd { return s.m.copyText("the id", s.id) }, nil),
		e.bind("copy-error", 0, s.copyError, func() string {
			if s.read && s.detail.Job.ErrorDetail == nil && s.detail.Job.ErrorCategory == nil {
				return "the job has no error"
			}
			return ""
		}),
		s.m.lookupBinding(s.target),
	}
	return append(own, s.m.verbs(s.target, nil)...)
}

// turn shows the next section. The payload is read only when it is asked for.
func (s *jobScreen) turn(by int) tea.Cmd {
	s.section = (s.section + by + len(jobSections)) % len(jobSections)
	s.scrolled, s.wrapped = 0, wrapped{}
	if jobSections[s.section] == "payload" && !s.payload.read {
		return s.readPayload()
	}
	return nil
}

func (s *jobScreen) scroll(to int) {
	s.scrolled = max(0, min(to, s.wrapped.n-s.room))
}

func (s *jobScreen) copyError() tea.Cmd {
	j := s.detail.Job
	whole := str(j.ErrorCategory)
	if j.ErrorDetail != nil {
		whole += ": " + s.m.env.charset().MaskText(*j.ErrorDetail)
	}
	return s.m.copyBlock("the error", whole)
}

func (s *jobScreen) view(width, height int) []string {
	e := s.m.env
	switch {
	case errors.Is(s.err, store.ErrNotFound):
		return s.missing(width, height)
	case !s.read && s.err != nil:
		return []string{"", e.line(theme.Bad, " "+e.words(s.err))}
	case !s.read:
		return []string{"", e.line(theme.Dim, "   reading")}
	}
	var lines []string
	if s.err != nil {
		lines = append(lines, e.line(theme.Bad, " "+e.words(s.err)))
	}
	for _, l := range s.head(width, height) {
		lines = append(lines, l.Draw(e.theme, width))
	}
	s.room = max(1, height-len(lines)-1)
	s.wrap(width)
	s.scroll(s.scrolled)
	lines = append(lines, s.sectionTitle(width))
	for i := s.scrolled; i < s.wrapped.n && len(lines) < height; i++ {
		lines = append(lines, s.drawn(i, width))
	}
	return lines
}

// sectionTitle names the sections, the one that is shown first of all.
func (s *jobScreen) sectionTitle(width int) string {
	e := s.m.env
	var left, right theme.Line
	left.Add(theme.Plain, " ")
	for i, name := range jobSections {
		if i == s.section {
			left.Add(theme.Title, "["+name+"]")
		} else {
			left.Add(theme.Dim, " "+name+" ")
		}
		left.Add(theme.Plain, " ")
	}
	if n := s.wrapped.n; n > s.room {
		right.Add(theme.Dim, text.Count(int64(s.scrolled+1))+"-"+text.Count(int64(min(n, s.scrolled+s.room)))+" of "+text.Count(int64(n))+" ")
	} else if s.section == 0 {
		zone, _ := e.poller.poll.At.Local().Zone()
		right.Add(theme.Dim, "newest first, times in "+e.safe(zone)+" ")
	}
	line := theme.Spread(left, right, width)
	return line.Draw(e.theme, width)
}
