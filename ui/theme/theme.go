// Package theme is how the console looks: one palette of roles over the 16 ANSI
// colours, and the glyphs it draws with. A colour is never the only sign of anything,
// so that none of it needs to be seen.
package theme

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"jobtop/ui/text"
)

// Role is what a piece of text means; the palette gives it a look.
type Role uint8

// The roles.
const (
	Plain Role = iota
	Dim
	Strong
	Title    // names of screens, sections and columns
	Key      // keys in help and in the key line
	Good     // happened, applied, alive
	Warn     // uncertain, waiting, stale
	Bad      // wrong, refused, dead
	Info     // a hint, somebody else's doing
	Selected // the row that a key acts on
	Marked   // a marked row
	Field    // an input that has the focus
	Button   // the button that has the focus
	Profile  // the name of a database's profile, in its own colour
	roles
)

// Names are the palettes that the configuration may choose.
func Names() []string { return []string{"auto", "dark", "light", "none"} }

// Theme draws text in roles. It is safe for concurrent use.
type Theme struct {
	Charset text.Charset
	Glyphs  Glyphs
	open    [roles]string
}

const closeAll = "\x1b[m"

// The palettes keep to colours that stay apart for every kind of colour blindness: bad
// differs from good by brightness and weight too, never by red and green alone. Roles
// that are left out are plain.
var palettes = map[string]map[Role]lipgloss.Style{
	"dark": both(map[Role]lipgloss.Style{
		Dim: style.Faint(true), Title: coloured(cyan).Bold(true), Key: coloured(cyan).Bold(true), Good: coloured(cyan), Warn: coloured(yellow),
		Bad: coloured(red).Bold(true), Info: coloured(blue), Marked: coloured(magenta).Bold(true),
	}),
	"light": both(map[Role]lipgloss.Style{
		Dim: style.Faint(true), Title: coloured(blue).Bold(true), Key: coloured(blue).Bold(true), Good: coloured(blue), Warn: coloured(magenta),
		Bad: coloured(red).Bold(true), Info: coloured(cyan), Marked: coloured(magenta).Bold(true),
	}),
	"none": both(map[Role]lipgloss.Style{
		Title: style.Bold(true), Key: style.Bold(true), Warn: style.Bold(true), Bad: style.Bold(true), Marked: style.Bold(true),
	}),
}

// both adds the looks that every palette has.
func both(palette map[Role]lipgloss.Style) map[Role]lipgloss.Style {
	palette[Strong] = style.Bold(true)
	palette[Selected] = style.Reverse(true)
	palette[Field] = style.Underline(true)
	palette[Button] = style.Reverse(true).Bold(true)
	palette[Profile] = style.Reverse(true).Bold(true)
	return palette
}

// The 16 colours are the terminal's own, so that they suit its background. What a terminal
// can do is not asked: every one knows these, and --no-color is for those that do not.
const (
	red     = lipgloss.Color("1")
	yellow  = lipgloss.Color("3")
	blue    = lipgloss.Color("4")
	magenta = lipgloss.Color("5")
	cyan    = lipgloss.Color("6")
)

var style = func() lipgloss.Style {
	renderer := lipgloss.NewRenderer(io.Discard)
	renderer.SetColorProfile(termenv.TrueColor)
	return renderer.NewStyle()
}()

func coloured(c lipgloss.Color) lipgloss.Style { return style.Foreground(c) }

// opening is what switches a style on. A frame styles thousands of cells, so each style is
// rendered once and not for every cell.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// New returns the theme of a name; auto, dark and "" are one, made to be readable on
// both backgrounds.
func New(name string, charset text.Charset) (*Theme, error) {
	if name == "" || name == "auto" {
		name = "dark"
	}
	palette, ok := palettes[name]
	if !ok {
		return nil, fmt.Errorf("no theme is called %q; there are %s", text.ASCII.Line(name, 40), strings.Join(Names(), ", "))
	}
	t := &Theme{Charset: charset, Glyphs: unicodeGlyphs}
	if charset == text.ASCII {
		t.Glyphs = asciiGlyphs
	}
	for role, look := range palette {
		t.open[role] = opening(look)
	}
	return t, nil
}

// Paint gives the role Profile a colour: one of the terminal's by its number from 0 to
// 255, or #rrggbb. It is shown unless the theme has no colours, and by its reversed text
// in any case.
func (t *Theme) Paint(colour string) {
	if t.open[Good] == "" {
		return
	}
	t.open[Profile] = opening(palettes["none"][Profile].Foreground(lipgloss.Color(colour)))
}

// Valid reports whether name is one of Names.
func Valid(name string) bool { return slices.Contains(Names(), name) }

// In draws s, which must be safe for the screen already, in a role. Spaces at its end
// stay outside, where they cost nothing, unless the role shows on them.
func (t *Theme) In(role Role, s string) string {
	open := t.open[role]
	if open == "" || s == "" {
		return s
	}
	if role >= Selected {
		return open + s + closeAll
	}
	trimmed := strings.TrimRight(s, " ")
	if trimmed == "" {
		return s
	}
	return open + trimmed + closeAll + s[len(trimmed):]
}
