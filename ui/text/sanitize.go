package text

import (
	"strings"
	"unicode/utf8"
)

// tabStop is the distance of tab stops in a block, in columns. Eight would leave
// little of an indented stack trace on an 80-column screen.
const tabStop = 4

// Sanitize returns s as one line that is safe to print anywhere on the screen.
// Whatever is not plainly visible becomes an escape as Go writes it: \n, \t, \r, \x1b
// (ASCII controls), \xff (a byte that is not UTF-8), \u202e, \U000e0041. That covers
// control characters, bidi controls, zero-width and other invisible characters,
// spaces other than U+0020, private use, combining marks with nothing to stand on or
// beyond three in a row, and characters on whose width terminals disagree. With
// [ASCII] it covers everything above U+007E.
//
// Sanitising twice changes nothing more. A backslash in s stays a single backslash,
// so that paths and JSON remain readable: an escape on the screen is not proof of a
// control character in the data.
//
// Clean text is returned as it is, without allocating.
func (c Charset) Sanitize(s string) string {
	if plain(s) {
		return s
	}
	return c.sanitize(s, false)
}

// SanitizeBlock is [Charset.Sanitize] for text of many lines: \n and \r\n end a line,
// tabs are expanded to stops of four columns, all else is escaped.
func (c Charset) SanitizeBlock(s string) string {
	if plain(s) {
		return s
	}
	return c.sanitize(s, true)
}

// Line is Sanitize followed by [Charset.Truncate] to width columns. It reads no more
// of s than can be shown, so a megabyte costs what a line costs.
func (c Charset) Line(s string, width int) string {
	if width <= 0 {
		return ""
	}
	// The least that 16 bytes can show is one column: four of a base character,
	// and three marks of four each.
	if most := (width + 2) * (1 + maxMarks) * utf8.UTFMax; most > 0 && most < len(s) {
		for back := 0; back < utf8.UTFMax-1 && !utf8.RuneStart(s[most]); back++ {
			most--
		}
		s = s[:most]
	}
	return c.Truncate(c.Sanitize(s), width)
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i]-' ' > '~'-' ' {
			return false
		}
	}
	return true
}

func (c Charset) sanitize(s string, block bool) string {
	var (
		b     strings.Builder
		g     = gate{ascii: c == ASCII}
		kept  int // s[kept:i] is clean and not yet written
		col   int // columns written on this line, up to fresh
		fresh int // where in b the part not yet counted in col begins
	)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if g.pass(r, size) {
			i += size
			continue
		}
		b.WriteString(s[kept:i])
		switch {
		case block && (r == '\n' || strings.HasPrefix(s[i:], "\r\n")):
			if r == '\r' {
				size = 2
			}
			b.WriteByte('\n')
			col, fresh = 0, b.Len()
		case block && r == '\t':
			col += Width(b.String()[fresh:])
			n := tabStop - col%tabStop
			b.WriteString("    "[:n])
			col, fresh = col+n, b.Len()
		default:
			writeEscape(&b, r, s[i:i+size])
		}
		i += size
		kept = i
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

const hex = "0123456789abcdef"

// writeEscape writes r, decoded from raw, as a visible escape.
func writeEscape(b *strings.Builder, r rune, raw string) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case len(raw) == 1:
		b.WriteString(`\x`)
		writeHex(b, uint32(raw[0]), 2)
	case r <= 0xffff:
		b.WriteString(`\u`)
		writeHex(b, uint32(r), 4)
	default:
		b.WriteString(`\U`)
		writeHex(b, uint32(r), 8)
	}
}

func writeHex(b *strings.Builder, v uint32, digits int) {
	for digits--; digits >= 0; digits-- {
		b.WriteByte(hex[v>>(4*digits)&0xf])
	}
}
