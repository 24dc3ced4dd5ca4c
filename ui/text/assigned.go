package text

import "strings"

// keyMost bounds how far back a key is looked for.
const keyMost = 64

// assigned finds the value that the = or : at s[i] gives to a telling key.
func (f *finder) assigned(i int) span {
	s := f.s
	if s[i] == '=' && i > 0 && s[i-1] == ')' && strings.HasPrefix(s[i+1:], "(") {
		return constraint(s, i)
	}
	key, quoted := keyBefore(s, i)
	level := tellingKey(key)
	if level == notTelling {
		return span{}
	}
	v := i + 1
	for v < len(s) && (s[v] == '=' || s[v] == '>') {
		v++
	}
	spaced := v
	v = skipSpaces(s, v)
	if v == len(s) || s[v] == '\n' || s[v] == '\r' {
		return span{}
	}
	if found, ok := quotedValue(s, v); ok {
		return found
	}
	if s[v] == '{' || s[v] == '[' {
		return span{v, bracketEnd(s, v)}
	}
	end := bareEnd(s, v, quoted, level == tellsList)
	word := strings.TrimRight(s[v:end], ".,;:!?)]}")
	switch word {
	case "null", "nil", "None", "<nil>", "undefined":
		return span{}
	}
	// "unexpected token: end of input" is prose, "token: 9f3a" is not.
	if level == mayTell && s[i] == ':' && v > spaced && !quoted && prose(word) {
		return span{}
	}
	return span{v, end}
}

// flag finds the value of the command-line flag whose name begins at s[i].
func flag(s string, i int) span {
	end := i
	for end < len(s) && end-i < keyMost && keyByte(s[end]) {
		end++
	}
	v := skipSpaces(s, end)
	if v == end || v == len(s) || s[v] == '-' || tellingKey(s[i:end]) == notTelling {
		return span{}
	}
	if found, ok := quotedValue(s, v); ok {
		return found
	}
	return span{v, bareEnd(s, v, false, false)}
}

// keyBefore returns the key that ends before s[i], and whether it was in quotes.
func keyBefore(s string, i int) (key string, quoted bool) {
	end := i
	for end > 0 && i-end < 4 && s[end-1] == ' ' {
		end--
	}
	if end > 0 && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '`') {
		quoted = true
		for end--; end > 0 && s[end-1] == '\\'; end-- {
			if i-end > keyMost {
				return "", true
			}
		}
	}
	start := wordStart(s, end)
	// "api key: …" is one key in two words.
	switch strings.ToLower(s[start:end]) {
	case "key", "number", "code":
		if start > 0 && s[start-1] == ' ' {
			start = wordStart(s, start-1)
		}
	}
	return s[start:end], quoted
}

// wordStart returns where the key that ends before s[end] begins.
func wordStart(s string, end int) int {
	start := end
	for start > 0 && end-start < keyMost && keyByte(s[start-1]) {
		start--
	}
	return start
}

func keyByte(b byte) bool {
	return alnum(b) || b == '_' || b == '-' || b == '.' || b >= 0x80
}

// constraint finds the values in PostgreSQL's "Key (column, column)=(value, value)".
func constraint(s string, i int) span {
	open := strings.LastIndexByte(s[max(0, i-256):i], '(')
	if open < 0 || tellingKey(s[max(0, i-256)+open:i]) == notTelling {
		return span{}
	}
	line := s[i+2:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	// Values are not quoted and may hold parentheses.
	end := strings.LastIndexByte(line, ')')
	if end < 0 {
		end = len(line)
	}
	return span{i + 2, i + 2 + end}
}

// quotedValue finds the inside of the quoted string at s[v:]. The quotes may be escaped,
// as in JSON inside a JSON string. An open end reaches to the end of s.
func quotedValue(s string, v int) (found span, ok bool) {
	q := v
	for q < len(s) && s[q] == '\\' {
		q++
	}
	if q == len(s) || (s[q] != '"' && s[q] != '\'' && s[q] != '`') {
		return span{}, false
	}
	start, depth := q+1, q-v
	for j := start; j < len(s); j++ {
		run := 0
		for j < len(s) && s[j] == '\\' {
			run++
			j++
		}
		if j == len(s) || s[j] != s[q] || run > depth && (depth > 0 || run%2 == 1) {
			continue
		}
		// 'it''s' is one string in SQL.
		if depth == 0 && s[q] == '\'' && j > start && j+1 < len(s) && s[j+1] == s[q] {
			j++
			continue
		}
		return span{start, j - min(run, depth)}, true
	}
	return span{start, len(s)}, true
}

// bracketEnd returns where the object or array at s[v:] closes, or the end of s.
func bracketEnd(s string, v int) int {
	depth := 0
	for j := v; j < len(s); j++ {
		switch s[j] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return j + 1
			}
		case '"', '\'':
			q := s[j]
			for j++; j < len(s) && s[j] != q; j++ {
				if s[j] == '\\' {
					j++
				}
			}
		}
	}
	return len(s)
}

// bareEnd returns where the value at s[v:], which is not quoted, ends: at white space,
// or at a separator that the next key follows. A scheme goes on after a space ("Bearer
// x"), a list after its separators too ("a=1; b=2"). Inside JSON any separator ends it.
func bareEnd(s string, v int, inJSON, list bool) int {
	word := v
	for j := v; j < len(s); j++ {
		switch s[j] {
		case ',', ';', '&':
			if inJSON || (!list && keyFollows(s, j+1)) {
				return j
			}
		case '}', ']':
			if inJSON {
				return j
			}
		case '\n', '\r', '\t':
			return j
		case ' ':
			goesOn := isScheme(s[word:j]) || list && (j == word || s[j-1] == ';' || s[j-1] == ',')
			if !goesOn {
				return j
			}
			word = j + 1
		}
	}
	return len(s)
}

// isScheme reports whether word announces credentials in the next one.
func isScheme(word string) bool {
	switch strings.ToLower(word[:min(len(word), 20)]) {
	case "apikey", "aws4-hmac-sha256", "basic", "bearer", "digest", "negotiate", "token":
		return true
	}
	return false
}

// keyFollows reports whether s[j:] begins with a key and its = or :.
func keyFollows(s string, j int) bool {
	for n := 0; n < 4 && j < len(s) && s[j] == ' '; n++ {
		j++
	}
	start := j
	for j < len(s) && j-start < keyMost && keyByte(s[j]) {
		j++
	}
	return j > start && j < len(s) && (s[j] == '=' || s[j] == ':')
}

// prose reports whether word is an ordinary word.
func prose(word string) bool {
	for i := range len(word) {
		if c := word[i]; !letter(c) || (i > 0 && upper(c)) {
			return false
		}
	}
	return len(word) <= 20
}
