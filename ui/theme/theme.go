// Package theme is how the console looks: one palette of roles over the 16 ANSI
// colours, and the glyphs it draws with. A colour is never the only sign of anything,
// so that none of it needs to be seen.
package theme

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
// differs from good by brightness and weight too, never by red and green alone.
var palettes = map[string][roles]string{
	"dark": {
		Dim: "2", Strong: "1", Title: "1;36", Key: "1;36", Good: "36", Warn: "33", Bad: "1;31", Info: "34",
		Selected: "7", Marked: "1;35", Field: "4", Button: "7;1", Profile: "7;1",
	},
	"light": {
		Dim: "2", Strong: "1", Title: "1;34", Key: "1;34", Good: "34", Warn: "35", Bad: "1;31", Info: "36",
		Selected: "7", Marked: "1;35", Field: "4", Button: "7;1", Profile: "7;1",
	},
	"none": {
		Strong: "1", Title: "1", Key: "1", Bad: "1", Warn: "1", Selected: "7", Marked: "1", Field: "4", Button: "7;1", Profile: "7;1",
	},
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
	for role, codes := range palette {
		if codes != "" {
			t.open[role] = "\x1b[" + codes + "m"
		}
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
	var r, g, b uint8
	if n, err := strconv.ParseUint(colour, 10, 8); err == nil {
		t.open[Profile] = fmt.Sprintf("\x1b[7;1;38;5;%dm", n)
	} else if _, err := fmt.Sscanf(colour, "#%02x%02x%02x", &r, &g, &b); err == nil {
		t.open[Profile] = fmt.Sprintf("\x1b[7;1;38;2;%d;%d;%dm", r, g, b)
	}
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
