package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// position is where a row stands in a list.
type position struct {
	key int64 // in a sorted list
	at  int64 // in a scanned one: microseconds since 1970
	id  string
}

// cursor is the written form of a position. It belongs to its query and no other.
type cursor struct {
	Query uint64 `json:"q"`
	Key   int64  `json:"k,omitempty"`
	At    int64  `json:"t,omitempty"`
	ID    []byte `json:"i"` // bytes, so that it comes back to the letter
}

func (p position) write(query uint64) string {
	text, _ := json.Marshal(cursor{Query: query, Key: p.key, At: p.at, ID: []byte(p.id)}) // numbers and bytes always can
	return base64.RawURLEncoding.EncodeToString(text)
}

// readCursor reads what write wrote for the same query; "" is the beginning.
func readCursor(text string, query uint64) (position, error) {
	if text == "" {
		return position{}, nil
	}
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	const year9999 = 253402300800 * 1e6
	switch {
	case err != nil || !utf8.Valid(c.ID) || strings.ContainsRune(string(c.ID), 0) || c.At < -year9999 || c.At > year9999:
		return position{}, badQuery("the cursor cannot be read", "pass on the one that came with the page before, or begin without one")
	case c.Query != query:
		return position{}, badQuery("the cursor belongs to another query", "begin without one after changing the filter or the order")
	}
	return position{key: c.Key, at: c.At, id: string(c.ID)}, nil
}

func (s *search) resume(after string) (err error) {
	s.after, err = readCursor(after, s.mark())
	return err
}

// mark tells queries apart whose cursors must not be mixed up. The number of rows
// asked for may change from page to page.
func (s *search) mark() uint64 {
	return fingerprint("jobs", s.order, s.query.Stuck, s.query.Conditions)
}

func fingerprint(parts ...any) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%q\n", fmt.Sprint(p))
	}
	return h.Sum64()
}

// parseAge reads a duration as Go writes them, with d for days and w for weeks before
// the hours.
func parseAge(text string) (time.Duration, error) {
	bad := badQuery(fmt.Sprintf("%s is no age", quote(text)), "write one such as 90s, 10m, 2h or 3d")
	rest := strings.TrimSpace(strings.TrimPrefix(text, ">"))
	var age time.Duration
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		if number, after, found := strings.Cut(rest, unit.name); found {
			n, err := strconv.ParseUint(number, 10, 32)
			if err != nil {
				return 0, bad
			}
			units := min(int64(n), int64(lifetime/unit.length))
			age, rest = min(age+time.Duration(units*int64(unit.length)), lifetime), after
		}
	}
	if rest == "" && age > 0 {
		return age, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 {
		return 0, bad
	}
	return min(age+min(d, lifetime), lifetime), nil
}

// quote shows a text from outside in a message.
func quote(s string) string {
	const shown = 80
	if utf8.RuneCountInString(s) > shown {
		s = string([]rune(s)[:shown]) + "…"
	}
	return strconv.Quote(s)
}
