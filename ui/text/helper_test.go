package text

import (
	"strings"
	"testing"
	"time"
)

// checkLinear runs f on a megabyte of the awkward unit. That takes a twentieth of a
// second in linear time, and minutes in quadratic time.
func checkLinear(t *testing.T, unit string, f func(s string)) {
	t.Helper()
	s := strings.Repeat(unit, 1<<20/len(unit))
	start := time.Now()
	f(s)
	if took := time.Since(start); took > time.Minute {
		t.Errorf("a megabyte of %+q took %v", unit, took)
	}
}
