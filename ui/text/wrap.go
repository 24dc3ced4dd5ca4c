package text

import "strings"

// Wrap breaks s into lines of at most width columns: at its newlines, at spaces, and
// inside words that are longer than a line. Indentation is kept where it leaves room;
// spaces at a break are dropped. A character wider than width becomes "?". It returns
// nil when width is not positive.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		lines = wrapLine(lines, line, width)
	}
	return lines
}

func wrapLine(lines []string, rest string, width int) []string {
	first := len(lines)
	for {
		end, gap := fit(rest, width)
		switch {
		case end == len(rest):
			if rest != "" || len(lines) == first {
				lines = append(lines, rest)
			}
			return lines
		case gap > 0:
			lines = append(lines, rest[:gap])
			rest = strings.TrimLeft(rest[gap:], " ")
		case end > 0 && strings.Trim(rest[:end], " ") == "":
			rest = strings.TrimLeft(rest, " ")
		case end > 0:
			lines = append(lines, rest[:end])
			rest = rest[end:]
		default:
			size, _ := next(rest)
			lines = append(lines, "?")
			rest = rest[size:]
		}
	}
}

// fit returns how many bytes of s fit into width columns, and where the last run of
// spaces after a word begins that a line can end at, or 0.
func fit(s string, width int) (end, gap int) {
	used, word := 0, false
	for end < len(s) {
		size, w := next(s[end:])
		space := s[end] == ' '
		if space && word {
			gap = end
		}
		if used+w > width {
			return end, gap
		}
		word = !space
		used += w
		end += size
	}
	return end, gap
}
