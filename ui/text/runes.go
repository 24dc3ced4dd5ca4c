package text

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks one character may carry: enough for every
// living script that passes the gate, too few to paint over the lines around it.
const maxMarks = 3

// gate decides, rune by rune, what may reach the screen as it is. What passes is
// worth the same columns to a terminal that adds up wcwidth (xterm, tmux, VTE) as to
// one that measures grapheme clusters, so a hostile or merely unusual text cannot
// shift the columns to its right in either. The price is that scripts on which the
// two disagree (vowel signs and conjuncts of Indic scripts, Thai sara am, decomposed
// Hangul, half-width kana with voicing marks, emoji sequences, flags) show some escapes.
type gate struct {
	ascii bool
	room  int // combining marks that the last character can still take
}

// pass reports whether r, decoded from size bytes, may be shown.
func (g *gate) pass(r rune, size int) bool {
	if r < utf8.RuneSelf {
		if r > ' ' && r < 0x7f {
			g.room = maxMarks
			return true
		}
		// A mark on a space would be lost wherever spaces are trimmed.
		g.room = 0
		return r == ' '
	}
	if g.ascii || (r == utf8.RuneError && size == 1) || !strconv.IsPrint(r) || unicode.In(r, refused, recent, unicode.Mc) {
		g.room = 0
		return false
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		if g.room == 0 {
			return false
		}
		g.room--
		return true
	}
	g.room = maxMarks
	return true
}

// refused holds the runes that strconv.IsPrint allows and the screen cannot take.
// TestEveryRune checks it against the width library.
var refused = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x034f, 0x034f, 1}, // combining grapheme joiner, invisible
		{0x094d, 0x094d, 1}, // viramas, which join the next consonant: Devanagari,
		{0x09cd, 0x09cd, 1}, // Bengali,
		{0x0acd, 0x0acd, 1}, // Gujarati,
		{0x0b4d, 0x0b4d, 1}, // Oriya,
		{0x0c4d, 0x0c4d, 1}, // Telugu,
		{0x0d4d, 0x0d4d, 1}, // Malayalam
		{0x0d4e, 0x0d4e, 1}, // Malayalam dot reph, joins the next character
		{0x0e33, 0x0e33, 1}, // Thai sara am, a spacing mark though a letter
		{0x0eb3, 0x0eb3, 1}, // Lao am, likewise
		{0x1039, 0x1039, 1}, // Myanmar virama
		{0x1100, 0x11ff, 1}, // conjoining Hangul jamo
		{0x17b4, 0x17b5, 1}, // Khmer inherent vowels, invisible
		{0x17d2, 0x17d2, 1}, // Khmer coeng, a virama
		{0x180b, 0x180d, 1}, // Mongolian variation selectors
		{0x180f, 0x180f, 1},
		{0x1a60, 0x1a60, 1}, // viramas: Tai Tham,
		{0x1bab, 0x1bab, 1}, // Sundanese
		{0x2630, 0x2637, 1}, // trigrams: widened by Unicode 16, so terminals disagree
		{0x268a, 0x268f, 1}, // likewise
		{0x2800, 0x2800, 1}, // blank Braille pattern
		{0x3164, 0x3164, 1}, // Hangul filler, invisible
		{0x3248, 0x324f, 1}, // circled numbers on squares: terminals disagree
		{0xa960, 0xa97c, 1}, // conjoining jamo
		{0xaaf6, 0xaaf6, 1}, // Meetei Mayek virama
		{0xd7b0, 0xd7fb, 1}, // conjoining jamo
		{0xfe00, 0xfe0f, 1}, // variation selectors
		{0xff9e, 0xffa0, 1}, // half-width voicing marks, half-width filler
	},
	R32: []unicode.Range32{
		{0x10a3f, 0x10a3f, 1}, // all down to 11d46 join the next character
		{0x11133, 0x11133, 1},
		{0x111c2, 0x111c3, 1},
		{0x1193e, 0x1193f, 1},
		{0x11941, 0x11941, 1},
		{0x11a47, 0x11a47, 1},
		{0x11a84, 0x11a89, 1},
		{0x11a99, 0x11a99, 1},
		{0x11d46, 0x11d46, 1},
		{0x1d159, 0x1d159, 1}, // null note head, blank
		{0x1d300, 0x1d356, 1}, // tetragrams: terminals disagree
		{0x1d360, 0x1d376, 1}, // counting rods: terminals disagree
		{0x1f1e6, 0x1f1ff, 1}, // regional indicators, which pair into flags
		{0x1f3fb, 0x1f3ff, 1}, // skin tones
		{0xe0100, 0xe01ef, 1}, // variation selectors
	},
}

// recent holds what Unicode 15 (2022) added, the newest that this Go knows. Programs
// built on older tables, such as tmux on Debian 12, print nothing for it.
var recent = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0cf3, 0x0cf3, 1},
		{0x0ece, 0x0ece, 1},
	},
	R32: []unicode.Range32{
		{0x10efd, 0x10eff, 1}, // Arabic marks
		{0x1123f, 0x11241, 1}, // Khojki
		{0x11b00, 0x11b09, 1}, // Devanagari extended
		{0x11f00, 0x11f59, 1}, // Kawi
		{0x1342f, 0x13455, 1}, // hieroglyph controls
		{0x1b132, 0x1b132, 1}, // small kana
		{0x1b155, 0x1b155, 1},
		{0x1d2c0, 0x1d2d3, 1}, // Kaktovik numerals
		{0x1df25, 0x1df2a, 1}, // Latin extended G
		{0x1e030, 0x1e08f, 1}, // Cyrillic extended D
		{0x1e4d0, 0x1e4f9, 1}, // Nag Mundari
		{0x1f6dc, 0x1f6dc, 1}, // symbols and emoji
		{0x1f774, 0x1f77f, 1},
		{0x1f7d9, 0x1f7d9, 1},
		{0x1fa75, 0x1fa77, 1},
		{0x1fa87, 0x1fa88, 1},
		{0x1faad, 0x1faaf, 1},
		{0x1fabb, 0x1fabf, 1},
		{0x1face, 0x1facf, 1},
		{0x1fada, 0x1fadb, 1},
		{0x1fae8, 0x1fae8, 1},
		{0x1faf7, 0x1faf8, 1},
		{0x2b739, 0x2b739, 1}, // ideographs
		{0x31350, 0x323af, 1}, // ideographs, extension H
	},
}
