package cli

import (
	"io"
	"os"

	"github.com/charmbracelet/x/term"

	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// screen is what is known of where the output goes.
type screen struct {
	charset text.Charset
	// width is the terminal's, in columns; 0 where the output is no terminal, so that
	// nothing is cut but long ids in tables.
	width int
	look  *theme.Theme // nil: no colours
}

func newScreen(stdout io.Writer, flags globalFlags) screen {
	var s screen
	if flags.ascii {
		s.charset = text.ASCII
	}
	file, ok := stdout.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return s
	}
	s.width = 80
	if width, _, err := term.GetSize(file.Fd()); err == nil && width > 0 {
		s.width = width
	}
	if !flags.noColour && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		s.look, _ = theme.New("", s.charset)
	}
	return s
}

// in gives text that is safe for the screen the look of a role.
func (s screen) in(role theme.Role, safe string) string {
	if s.look == nil {
		return safe
	}
	return s.look.In(role, safe)
}

// line makes one line of untrusted text safe, and cuts it to the screen.
func (s screen) line(untrusted string) string {
	if s.width == 0 {
		return s.charset.Sanitize(untrusted)
	}
	return s.charset.Line(untrusted, s.width)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}
