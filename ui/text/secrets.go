package text

import (
	"encoding/base64"
	"strings"
)

// A span is s[start:end] of the text that is searched; an empty one is no find.
type span struct{ start, end int }

// prefixes of tokens that providers make recognisable, and how many characters must
// follow.
var prefixes = []struct {
	prefix string
	least  int
}{
	{"AIza", 30}, {"AKIA", 12}, {"ASIA", 12},
	{"SG.", 20},
	{"dop_v1_", 8},
	{"gho_", 8}, {"ghp_", 8}, {"ghr_", 8}, {"ghs_", 8}, {"ghu_", 8}, {"github_pat_", 8}, {"glpat-", 8},
	{"hvs.", 8},
	{"npm_", 20},
	{"rk_live_", 1}, {"rk_test_", 1},
	{"shpat_", 8}, {"sk-", 16}, {"sk_live_", 1}, {"sk_test_", 1},
	{"whsec_", 1},
	{"xapp-", 8}, {"xoxa-", 1}, {"xoxb-", 1}, {"xoxe-", 1}, {"xoxp-", 1}, {"xoxr-", 1}, {"xoxs-", 1},
	{"ya29.", 8},
}

// shape finds a token by its look alone at s[i:], the start of a word.
func shape(s string, i int) span {
	switch c := s[i]; {
	case c >= '0' && c <= '9':
		return cardNumber(s, i)
	case c == 'e' && strings.HasPrefix(s[i:], "eyJ"):
		// A JSON object in base64: a JWT, or the beginning of one that was cut off.
		if end := tokenEnd(s, i); end-i >= 16 {
			return span{i, end}
		}
		return span{}
	case c|0x20 == 'b':
		return scheme(s, i)
	}
	for _, p := range prefixes {
		if s[i] == p.prefix[0] && strings.HasPrefix(s[i:], p.prefix) {
			if end := tokenEnd(s, i); end-i >= len(p.prefix)+p.least {
				return span{i, end}
			}
		}
	}
	return span{}
}

// tokenEnd returns where the run of base64 and URL-safe characters at s[i:] ends.
func tokenEnd(s string, i int) int {
	for i < len(s) && (alnum(s[i]) || strings.IndexByte("-_.~+/=", s[i]) >= 0) {
		i++
	}
	return i
}

// pem finds a private key block, up to its end line or the end of the text.
func pem(s string, i int) span {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if !strings.HasPrefix(s[i:], begin) {
		return span{}
	}
	label, _, ok := strings.Cut(s[i+len(begin):min(len(s), i+80)], dashes)
	if !ok || !strings.Contains(label, "PRIVATE") {
		return span{}
	}
	at := strings.Index(s[i:], end)
	if at < 0 {
		return span{i, len(s)}
	}
	at += i + len(end)
	if n := strings.Index(s[at:], dashes); n >= 0 {
		return span{i, at + n + len(dashes)}
	}
	return span{i, len(s)}
}

// scheme finds what follows Bearer or Basic.
func scheme(s string, i int) span {
	switch {
	case hasFold(s[i:], "bearer "):
		start := skipSpaces(s, i+len("bearer "))
		end := tokenEnd(s, start)
		switch word := s[start:end]; {
		case hasFold(word, "token") && prose(word):
			// "bearer token 9f3a", but not "bearer token is missing"
			start = skipSpaces(s, end)
			if end = tokenEnd(s, start); prose(s[start:end]) {
				return span{}
			}
		case hasFold(word, "auth") && prose(word), word == "of", hasFold(word, "realm="):
			return span{}
		}
		return span{start, end}
	case hasFold(s[i:], "basic "):
		start := skipSpaces(s, i+len("basic "))
		end := tokenEnd(s, start)
		token := strings.TrimRight(s[start:end], "=.")
		if userinfo, err := base64.RawStdEncoding.DecodeString(token); err == nil && strings.Contains(string(userinfo), ":") {
			return span{start, end}
		}
	}
	return span{}
}

// hasFold reports whether s begins with prefix, whatever its case.
func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func skipSpaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// cardNumber finds 13 to 19 digits that have a card issuer's prefix and a right check
// digit, in one run or in groups parted by single spaces or dashes.
func cardNumber(s string, i int) span {
	if i > 1 && s[i-1] == '.' && s[i-2] >= '0' && s[i-2] <= '9' {
		return span{} // the fraction of a number
	}
	var (
		num   [19]byte
		n     int  // digits seen
		group int  // of them in this group
		sep   byte // between groups
		found span
	)
	for j := i; ; j++ {
		if j < len(s) && s[j] >= '0' && s[j] <= '9' {
			if n == len(num) {
				return found
			}
			num[n] = s[j] - '0'
			n++
			group++
			continue
		}
		if (j == len(s) || !alnum(s[j])) && (sep == 0 || group <= 6) && issued(num[:n]) && luhn(num[:n]) {
			found = span{i, j}
		}
		if j == len(s) || (s[j] != ' ' && s[j] != '-') || (sep != 0 && sep != s[j]) || group < 4 || group > 6 {
			return found
		}
		sep, group = s[j], 0
	}
}

// issued reports whether a card issuer gives out numbers of this length and prefix.
// It keeps most ids and times that pass the check digit by chance readable.
func issued(num []byte) bool {
	n := len(num)
	if n < 13 {
		return false
	}
	p := 0
	for _, d := range num[:4] {
		p = p*10 + int(d)
	}
	within := func(low, high int) bool { return p >= low && p <= high }
	switch {
	case within(4000, 4999): // Visa
		return n == 13 || n == 16 || n == 19
	case within(5100, 5599), within(2221, 2720): // Mastercard
		return n == 16
	case within(3400, 3499), within(3700, 3799): // American Express
		return n == 15
	case within(3000, 3059), within(3600, 3699), within(3800, 3999): // Diners Club
		return n >= 14
	case within(3528, 3589): // JCB
		return n >= 16
	case within(2200, 2204): // Mir
		return n >= 16
	case within(5000, 5099), within(5600, 6999): // Maestro, Discover, UnionPay, RuPay
		return true
	}
	return false
}

func luhn(num []byte) bool {
	sum := 0
	for i, d := range num {
		v := int(d)
		if (len(num)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

func alnum(b byte) bool {
	return b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
}
