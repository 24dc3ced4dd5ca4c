package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many columns s takes on the screen. It measures as lipgloss and
// the renderer do; for sanitised text every terminal agrees with it.
func Width(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// next returns the length in bytes and the width in columns of the first character
// of s, which must not be empty.
func next(s string) (size, width int) {
	if s[0] >= ' ' && s[0] <= '~' && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(len(cluster), 1), width
}

// Truncate returns s if it fits into width columns, and otherwise as much of its
// start as fits together with the ellipsis. It never splits a character. For plain
// text, without styling.
func (c Charset) Truncate(s string, width int) string {
	if len(s) <= width && plain(s) {
		return s
	}
	room := width - Width(c.Ellipsis())
	if room < 0 {
		return ""
	}
	cut, used := 0, 0
	for i := 0; i < len(s); {
		size, w := next(s[i:])
		used += w
		if used > width {
			return s[:cut] + c.Ellipsis()
		}
		i += size
		if used <= room {
			cut = i
		}
	}
	return s
}

// TruncateMiddle is [Charset.Truncate] that keeps the start and the end of s, for ids
// that differ only there.
func (c Charset) TruncateMiddle(s string, width int) string {
	total := Width(s)
	if total <= width {
		return s
	}
	room := width - Width(c.Ellipsis())
	if room < 0 {
		return ""
	}
	head, tail := room-room/2, room/2
	start, end, used := 0, 0, 0
	for end < len(s) && total-used > tail {
		size, w := next(s[end:])
		end += size
		used += w
		if used <= head {
			start = end
		}
	}
	return s[:start] + c.Ellipsis() + s[end:]
}

// PadRight fills s with spaces on the right up to width columns. A longer s stays.
func PadRight(s string, width int) string {
	return s + spaces(width-Width(s))
}

// PadLeft fills s with spaces on the left up to width columns. A longer s stays.
func PadLeft(s string, width int) string {
	return spaces(width-Width(s)) + s
}

func spaces(n int) string {
	return strings.Repeat(" ", max(n, 0))
}
