package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// The JSON of all commands: names in snake_case; ages and durations in seconds, as
// numbers under names that end in _seconds; times as RFC 3339 in UTC; what the record
// does not hold as null, never left out. Fields are added, not renamed.

// seconds writes a duration as a number of seconds, to the millisecond.
type seconds time.Duration

// MarshalJSON writes the number.
func (s seconds) MarshalJSON() ([]byte, error) {
	value := math.Round(time.Duration(s).Seconds()*1000) / 1000
	return strconv.AppendFloat(nil, value, 'f', -1, 64), nil
}

func secondsOf(d *time.Duration) *seconds {
	if d == nil {
		return nil
	}
	s := seconds(*d)
	return &s
}

// moment writes a time in UTC, to the millisecond.
type moment time.Time

// MarshalJSON writes the time as a string.
func (m moment) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, time.Time(m).UTC().Format("2006-01-02T15:04:05.000Z07:00")), nil
}

func momentOf(t *time.Time) *moment {
	if t == nil {
		return nil
	}
	m := moment(*t)
	return &m
}

// writeJSON prints a value on one line.
func writeJSON(w io.Writer, value any) error {
	text, err := marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// writeIndentedJSON prints a value for people and jq alike.
func writeIndentedJSON(w io.Writer, value any) error {
	text, err := marshal(value)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return escape(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// escape writes every character that a terminal might obey, or that nobody can see, as
// a \u escape. Inside JSON such characters stand in strings only, and mean the same.
func escape(text []byte) []byte {
	safe := true
	for _, c := range text {
		if c >= 0x7f {
			safe = false
			break
		}
	}
	if safe {
		return text
	}
	b := make([]byte, 0, len(text)+16)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r != 0x7f && unicode.IsPrint(r):
			b = append(b, text[:size]...)
		case r <= 0xffff:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		text = text[size:]
	}
	return b
}
