package text

import (
	"errors"
	"fmt"
	"strings"
)

// depthMost is how many levels of a JSON value are shown. Anything that a person can
// read is shallower, and indentation grows with every level.
const depthMost = 100

// MaskJSON returns raw as indented JSON that is safe to show, with its secrets masked:
// the whole value, of whatever type but null, under a telling key (token, password,
// card, set-cookie, apiKey, …, in any case and style of writing), the "value" beside a
// telling "name", and inside strings whatever [Charset.MaskText] finds.
//
// Numbers are printed exactly as they stand in raw, members keep their order and
// duplicates. Characters that [Charset.Sanitize] would escape are written as \u
// escapes, so that the result is still JSON and still means the same. Values nested
// deeper than 100 levels are replaced by a string that says so.
//
// Where raw is not valid JSON it returns an error that says where, and raw itself, as
// free text, masked and made safe. Time and memory are linear in len(raw), the stack
// is not used.
func (c Charset) MaskJSON(raw []byte) (string, error) {
	p := printer{c: c, s: string(raw), hidden: -1}
	p.out.Grow(len(raw) + len(raw)/4)
	if err := p.value(); err != nil {
		return c.SanitizeBlock(c.MaskText(p.s)), fmt.Errorf("not JSON at byte %d: %w", p.i, err)
	}
	return p.out.String(), nil
}

var (
	errEnd       = errors.New("it ends early")
	errUnwelcome = errors.New("unexpected character")
	errString    = errors.New("bad string")
	errNumber    = errors.New("bad number")
)

// A level is an array or object that is being printed.
type level struct {
	object bool
	filled bool // it has a member before this one
	named  bool // it has a name that tells about its value
}

type printer struct {
	c      Charset
	s      string
	i      int // what comes next is s[i:]
	out    strings.Builder
	levels []level
	hidden int // what is nested deeper than this many levels is not printed; -1: all is
}

// value prints s, which must be one JSON value.
func (p *printer) value() error {
	for {
		secret, err := p.member()
		if err != nil {
			return err
		}
		opened, err := p.begin(secret)
		if err != nil {
			return err
		}
		if opened {
			continue
		}
		if done, err := p.end(); done || err != nil {
			return err
		}
	}
}

// member prints what precedes a value: the new line, and in an object the key. It
// reports whether the value is a secret.
func (p *printer) member() (secret bool, err error) {
	if len(p.levels) == 0 {
		return false, nil
	}
	top := &p.levels[len(p.levels)-1]
	if top.filled {
		p.print(",")
	}
	top.filled = true
	p.newline()
	if !top.object {
		return false, nil
	}
	if p.peek() != '"' {
		return false, p.unwelcome()
	}
	key, err := p.scanString()
	if err != nil {
		return false, err
	}
	p.printString(key)
	if p.peek() != ':' {
		return false, p.unwelcome()
	}
	p.i++
	p.print(": ")
	switch strings.ToLower(key[:min(len(key), 8)]) {
	case "name", "key", "header", "field":
		// jsonb and people alike put the name before the value.
		if p.peek() == '"' {
			at := p.i
			name, err := p.scanString()
			if err != nil {
				return false, err
			}
			p.i = at
			top.named = tellingKey(name) != notTelling
		}
	case "value", "values":
		secret = top.named
	}
	return secret || tellingKey(key) != notTelling, nil
}

// begin prints a scalar, or opens an array or object that has members.
func (p *printer) begin(secret bool) (opened bool, err error) {
	switch c := p.peek(); c {
	case '{', '[':
		p.i++
		if p.peek() == c+2 { // ] and } are two after [ and {
			p.i++
			p.scalar(secret, string([]byte{c, c + 2}))
			return false, nil
		}
		if p.hidden < 0 {
			switch {
			case secret:
				p.printString(p.c.Mask())
				p.hidden = len(p.levels)
			case len(p.levels) == depthMost:
				p.printString(p.c.Ellipsis() + fmt.Sprintf(" deeper than %d levels, not shown", depthMost))
				p.hidden = len(p.levels)
			}
		}
		p.print(string(c))
		p.levels = append(p.levels, level{object: c == '{'})
		return true, nil
	case '"':
		s, err := p.scanString()
		switch {
		case err != nil:
			return false, err
		case secret:
			p.printString(p.c.Mask())
		default:
			p.printString(s)
		}
		return false, nil
	case 't':
		return false, p.literal(secret, "true")
	case 'f':
		return false, p.literal(secret, "false")
	case 'n':
		return false, p.literal(false, "null")
	default:
		number, err := p.scanNumber()
		if err == nil {
			p.scalar(secret, number)
		}
		return false, err
	}
}

// end closes whatever ends after a value. It reports whether that was all.
func (p *printer) end() (done bool, err error) {
	for {
		c := p.peek()
		if len(p.levels) == 0 {
			if p.i < len(p.s) {
				return false, errUnwelcome
			}
			return true, nil
		}
		closer := byte(']')
		if p.levels[len(p.levels)-1].object {
			closer = '}'
		}
		switch c {
		case ',':
			p.i++
			return false, nil
		case closer:
			p.i++
			p.levels = p.levels[:len(p.levels)-1]
			p.newline()
			p.print(string(closer))
			if p.hidden == len(p.levels) {
				p.hidden = -1
			}
		default:
			return false, p.unwelcome()
		}
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *printer) peek() byte {
	for ; p.i < len(p.s); p.i++ {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *printer) unwelcome() error {
	if p.i >= len(p.s) {
		return errEnd
	}
	return errUnwelcome
}

func (p *printer) literal(secret bool, word string) error {
	if !strings.HasPrefix(p.s[p.i:], word) {
		return errUnwelcome
	}
	p.i += len(word)
	p.scalar(secret, word)
	return nil
}

func (p *printer) scalar(secret bool, s string) {
	if secret {
		p.printString(p.c.Mask())
		return
	}
	p.print(s)
}

func (p *printer) newline() {
	if p.hidden >= 0 {
		return
	}
	p.out.WriteByte('\n')
	for range p.levels {
		p.out.WriteString("  ")
	}
}

func (p *printer) print(s string) {
	if p.hidden < 0 {
		p.out.WriteString(s)
	}
}
