package text

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanNumber reads a number and returns it as it stands.
func (p *printer) scanNumber() (string, error) {
	start := p.i
	at := func() byte {
		if p.i < len(p.s) {
			return p.s[p.i]
		}
		return 0
	}
	if at() == '-' {
		p.i++
	}
	whole := digits(p.s[p.i:])
	switch {
	case whole == 0 && p.i > start:
		return "", errNumber
	case whole == 0:
		return "", p.unwelcome()
	case whole > 1 && at() == '0':
		return "", errNumber
	}
	p.i += whole
	if at() == '.' {
		p.i++
		frac := digits(p.s[p.i:])
		if frac == 0 {
			return "", errNumber
		}
		p.i += frac
	}
	if at()|0x20 == 'e' {
		p.i++
		if at() == '+' || at() == '-' {
			p.i++
		}
		exp := digits(p.s[p.i:])
		if exp == 0 {
			return "", errNumber
		}
		p.i += exp
	}
	return p.s[start:p.i], nil
}

// scanString reads a string and returns what it means.
func (p *printer) scanString() (string, error) {
	p.i++
	start := p.i
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.s[start : p.i-1], nil
		case c == '\\':
			return p.scanEscaped(start)
		case c < ' ':
			return "", errString
		}
	}
	return "", errEnd
}

// scanEscaped is scanString from the first escape on.
func (p *printer) scanEscaped(start int) (string, error) {
	var b strings.Builder
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			b.WriteString(p.s[start:p.i])
			p.i++
			return b.String(), nil
		case c < ' ':
			return "", errString
		case c == '\\':
			b.WriteString(p.s[start:p.i])
			r, n := unescape(p.s[p.i:])
			if n == 0 {
				return "", errString
			}
			b.WriteRune(r)
			p.i += n
			start = p.i
		default:
			p.i++
		}
	}
	return "", errEnd
}

// unescape returns what the escape at the start of s means and how long it is, 0 if it
// is none. Half a surrogate pair means U+FFFD.
func unescape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if s[1] == 'u' {
		r, ok := unit(s)
		if !ok {
			return 0, 0
		}
		if utf16.IsSurrogate(r) {
			if low, ok := unit(s[6:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	if at := strings.IndexByte(`"\/bfnrt`, s[1]); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), 2
	}
	return 0, 0
}

// unit reads \u and its four hex digits.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(v), err == nil
}

// printString prints s, masked, as a JSON string. JSON has no way to write a byte that
// is not UTF-8; it becomes U+FFFD.
func (p *printer) printString(s string) {
	if p.hidden >= 0 {
		return
	}
	s = strings.ToValidUTF8(p.c.MaskText(s), "\ufffd")
	b := &p.out
	b.WriteByte('"')
	g := gate{ascii: p.c == ASCII}
	kept := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if g.pass(r, size) && r != '"' && r != '\\' {
			i += size
			continue
		}
		b.WriteString(s[kept:i])
		switch short := strings.IndexRune("\"\\\b\f\n\r\t", r); {
		case short >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[short])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b.WriteString(`\u`)
			writeHex(b, uint32(high), 4)
			b.WriteString(`\u`)
			writeHex(b, uint32(low), 4)
		default:
			b.WriteString(`\u`)
			writeHex(b, uint32(r), 4)
		}
		i += size
		kept = i
	}
	b.WriteString(s[kept:])
	b.WriteByte('"')
}
