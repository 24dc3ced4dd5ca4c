// Package keys is the console's key map as data: which key does what, in words, and how
// a configuration may change it.
package keys

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"jobtop/ui/nearest"
	"jobtop/ui/text"
)

// Binding is one thing that keys do.
type Binding struct {
	ID   string // the name that the configuration uses
	Keys []string
	Help string // a word or two, for the key line
	Long string // a line, for the help
	// Writes: it leads to a change in the database, so that no lower-case letter and
	// nothing that is pressed by habit may be bound to it.
	Writes bool
}

// Label is how the key line and the help show a binding's keys.
func (b Binding) Label() string {
	names := make([]string, 0, len(b.Keys))
	for _, key := range b.Keys {
		names = append(names, Name(key))
	}
	return strings.Join(names, " ")
}

// First is the key to show where there is room for one.
func (b Binding) First() string {
	if len(b.Keys) == 0 {
		return ""
	}
	return Name(b.Keys[0])
}

// Name writes a key as people say it.
func Name(key string) string {
	switch key {
	case " ":
		return "space"
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "shift+tab":
		return "S-tab"
	}
	return strings.ReplaceAll(key, "ctrl+", "ctrl-")
}

// parse is the reverse of Name, lenient about spelling.
func parse(name string) (string, bool) {
	if utf8.RuneCountInString(name) == 1 {
		r, _ := utf8.DecodeRuneInString(name)
		return name, unicode.IsPrint(r)
	}
	lower := strings.ToLower(strings.TrimSpace(name))
	lower = strings.ReplaceAll(lower, "ctrl-", "ctrl+")
	lower = strings.ReplaceAll(lower, "alt-", "alt+")
	switch lower {
	case "space":
		return " ", true
	case "pgdn", "pagedown":
		return "pgdown", true
	case "pageup":
		return "pgup", true
	case "s-tab", "shift-tab":
		return "shift+tab", true
	case "return":
		return "enter", true
	case "escape":
		return "esc", true
	case "del":
		return "delete", true
	case "enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pgup", "pgdown", "insert", "delete", "backspace",
		"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12":
		return lower, true
	}
	if letter, ok := strings.CutPrefix(lower, "ctrl+"); ok && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
		return lower, true
	}
	if letter, ok := strings.CutPrefix(name, "alt+"); ok && utf8.RuneCountInString(letter) == 1 {
		return name, true
	}
	return "", false
}

// Map is the key map of a console. It is safe for concurrent use.
type Map struct {
	byID map[string]Binding
	ids  []string
}

// New returns the default key map with the changes of a configuration: lists of keys by
// a binding's ID, an empty list taking its keys away. The error says what is wrong and
// names the entry.
func New(changes map[string][]string) (*Map, error) {
	m := &Map{byID: map[string]Binding{}}
	for _, b := range defaults {
		m.byID[b.ID] = b
		m.ids = append(m.ids, b.ID)
	}
	ids := make([]string, 0, len(changes))
	for id := range changes {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		b, ok := m.byID[id]
		if !ok {
			return nil, fmt.Errorf("keys: nothing is called \"%s\"%s", text.ASCII.Line(id, 40), nearest.DidYouMean(id, m.ids))
		}
		b.Keys = nil
		for _, name := range changes[id] {
			key, ok := parse(name)
			if !ok {
				return nil, fmt.Errorf("keys: %s: \"%s\" is no key; write it as j, ctrl-d, enter, space, PgDn, f5", id, text.ASCII.Line(name, 40))
			}
			if reason := forbidden(b, key); reason != "" {
				return nil, fmt.Errorf("keys: %s cannot be on %s: %s", id, Name(key), reason)
			}
			b.Keys = append(b.Keys, key)
		}
		m.byID[id] = b
	}
	return m, m.conflict()
}

func forbidden(b Binding, key string) string {
	if key == "ctrl+c" && b.ID != "leave" {
		return "ctrl-c always leaves"
	}
	if !b.Writes {
		return ""
	}
	if r, size := utf8.DecodeRuneInString(key); size == len(key) && unicode.IsUpper(r) {
		return ""
	}
	if strings.HasPrefix(key, "f") && len(key) > 1 {
		return ""
	}
	return "what writes is on an upper-case letter or a function key"
}

// conflict finds two bindings on one key.
func (m *Map) conflict() error {
	taken := map[string]string{}
	for _, id := range m.ids {
		for _, key := range m.byID[id].Keys {
			if other, ok := taken[key]; ok {
				return fmt.Errorf("keys: %s is on %s and %s", Name(key), other, id)
			}
			taken[key] = id
		}
	}
	return nil
}

// Get returns a binding by its ID, which must be one of the defaults.
func (m *Map) Get(id string) Binding {
	b, ok := m.byID[id]
	if !ok {
		panic("keys: no binding " + id)
	}
	return b
}

// All returns every binding, in the order of the help.
func (m *Map) All() []Binding {
	all := make([]Binding, 0, len(m.ids))
	for _, id := range m.ids {
		all = append(all, m.byID[id])
	}
	return all
}
