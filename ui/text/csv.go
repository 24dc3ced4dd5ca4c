package text

import (
	"strings"
	"unicode/utf8"
)

// CSVCell guards a cell against being run as a formula by the spreadsheet that opens
// the file: a cell that begins with = + - @, their full-width forms, a tab, a carriage
// return or a newline gets a leading apostrophe. Numbers such as -5 and a lone - stay.
// It neither quotes (encoding/csv does) nor sanitises.
func CSVCell(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	if !strings.ContainsRune("=+-@＝＋－＠\t\r\n", r) || s == "" || s == "-" || number(s) {
		return s
	}
	return "'" + s
}

// number reports whether s is a decimal number, with sign, fraction and exponent
// optional.
func number(s string) bool {
	s = strings.TrimLeft(s[:1], "+-") + s[1:]
	whole := digits(s)
	n := whole
	if n < len(s) && s[n] == '.' {
		frac := digits(s[n+1:])
		n += 1 + frac
		whole += frac
	}
	if whole == 0 {
		return false
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		exp := digits(s[n:])
		if exp == 0 {
			return false
		}
		n += exp
	}
	return n == len(s)
}

// digits returns how many ASCII digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
