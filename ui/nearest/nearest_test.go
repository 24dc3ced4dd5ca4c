package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	words := []string{"state", "kind", "worker", "error", "verdict", "receipt", "age"}
	for typed, want := range map[string]string{
		"kidn":                      "kind", // two swapped
		"wroker":                    "worker",
		"recipt":                    "receipt",
		"Stat":                      "state",
		"verdicts":                  "verdict",
		"ag":                        "age",
		"colour":                    "",
		"":                          "",
		strings.Repeat("kind", 5e3): "",
	} {
		if got := Word(typed, words); got != want {
			t.Errorf("Word(%.20q) = %q, want %q", typed, got, want)
		}
	}
	if got := DidYouMean("kidn", words); got != " (did you mean kind?)" {
		t.Errorf("DidYouMean = %q", got)
	}
}
