package keys

import (
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	m, err := New(map[string][]string{"down": {"ctrl-n", "J"}, "requeue": {"F5"}, "mark": {"space", "v"}, "faster": nil})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{"down": "ctrl-n J", "requeue": "f5", "mark": "space v", "faster": "", "up": "k up", "page-down": "PgDn"} {
		if got := m.Get(id).Label(); got != want {
			t.Errorf("%s is on %q, want %q", id, got, want)
		}
	}
}

func TestChangesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		changes map[string][]string
		want    string
	}{
		"unknown":    {map[string][]string{"reqeue": {"E"}}, `nothing is called "reqeue" (did you mean requeue?)`},
		"no key":     {map[string][]string{"down": {"hyper-x"}}, `down: "hyper-x" is no key`},
		"two on one": {map[string][]string{"down": {"k"}}, "k is on down and up"},
		"lower case": {map[string][]string{"requeue": {"e"}}, "requeue cannot be on e: what writes is on an upper-case letter"},
		"by habit":   {map[string][]string{"done": {"enter"}}, "done cannot be on enter"},
		"leaving":    {map[string][]string{"down": {"ctrl-c"}}, "ctrl-c always leaves"},
		"control":    {map[string][]string{"down": {"\x1b"}}, `down: "\x1b" is no key`},
	} {
		_, err := New(c.changes)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
	}
}

func TestDefaultsHoldTheirOwnRules(t *testing.T) {
	m, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.All() {
		if b.Help == "" || b.Long == "" || len(b.Keys) == 0 {
			t.Errorf("%s has no key or no help: %+v", b.ID, b)
		}
		for _, key := range b.Keys {
			if reason := forbidden(b, key); reason != "" {
				t.Errorf("%s is on %s: %s", b.ID, key, reason)
			}
			if again, ok := parse(Name(key)); !ok || again != key {
				t.Errorf("%s is shown as %s, which reads back as %q", key, Name(key), again)
			}
		}
	}
}
