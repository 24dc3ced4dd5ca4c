package console

import (
	"strings"

	"jobtop/actions"
)

// keyed puts the keys of the verbs that a sentence of package actions names before their
// names: H (hold).
func (e *env) keyed(sentence string) string {
	for _, v := range actions.Verbs() {
		name := string(v)
		if key := e.first(name); key != "" {
			name = key + " (" + name + ")"
		}
		sentence = strings.ReplaceAll(sentence, v.Name(), name)
	}
	return sentence
}

// first is the key to name for a binding.
func (e *env) first(binding string) string { return e.keymap.Get(binding).First() }
