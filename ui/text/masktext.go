package text

import "strings"

// MaskText replaces the secrets in free text, such as an error's detail, by
// [Charset.Mask]: values after a telling key ("password=…", "Cookie: …", "--token …",
// {"token":"…"}, PostgreSQL's "Key (card)=(…)"), passwords in URLs, JWTs, Bearer and
// Basic credentials, the marked tokens of well-known providers, private key blocks and
// card numbers. It takes time linear in s.
//
// It is a net, not a proof: a secret without a telling key or shape gets through, and
// where it cannot tell it masks. Sanitise the result, not s.
func (c Charset) MaskText(s string) string {
	var b strings.Builder
	kept := 0
	f := finder{s: s}
	for i := 0; i < len(s); {
		found := span{}
		if starts[s[i]] {
			found = f.find(i)
		}
		if found.end <= found.start {
			i++
			continue
		}
		b.WriteString(s[kept:found.start])
		b.WriteString(c.Mask())
		kept, i = found.end, found.end
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// starts holds the bytes at which a find can begin, so that all others cost nothing.
var starts = func() (t [256]bool) {
	for _, c := range []byte("=:-0123456789eBb") {
		t[c] = true
	}
	for _, p := range prefixes {
		t[p.prefix[0]] = true
	}
	return t
}()

// A finder looks for secrets in s, from its start to its end.
type finder struct {
	s string
	// What userinfo last looked through: s[:segment], and the last @ in it. Looking
	// again for each URL of a long run without spaces would be quadratic.
	segment, at int
}

func (f *finder) find(i int) span {
	switch c := f.s[i]; {
	case c == ':' && strings.HasPrefix(f.s[i:], "://"):
		return f.userinfo(i + len("://"))
	case c == ':' || c == '=':
		return f.assigned(i)
	case strings.HasPrefix(f.s[i:], "-----"):
		return pem(f.s, i)
	case strings.HasPrefix(f.s[i:], "--"):
		return flag(f.s, i+2)
	case i > 0 && alnum(f.s[i-1]):
		return span{} // inside a word
	}
	return shape(f.s, i)
}

// userinfo finds the password of a URL whose authority begins at start.
func (f *finder) userinfo(start int) span {
	s := f.s
	if start >= f.segment {
		n := strings.IndexAny(s[start:], " \t\r\n\"'`<>")
		if n < 0 {
			n = len(s) - start
		}
		f.segment = start + n
		f.at = start + strings.LastIndexByte(s[start:f.segment], '@')
	}
	authority := s[start:f.segment]
	if n := strings.IndexAny(authority, "/?#"); n >= 0 {
		authority = authority[:n]
	}
	colon := strings.IndexByte(authority, ':')
	if colon < 0 || authority[0] == '[' {
		return span{}
	}
	if port := authority[colon+1:]; port != "" && digits(port) == len(port) {
		return span{}
	}
	// A password may hold an @ or a slash that should have been escaped.
	return span{start + colon + 1, f.at}
}
