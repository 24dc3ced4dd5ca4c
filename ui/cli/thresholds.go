package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"jobtop/ui/filter"
)

// countThreshold is WARN:CRIT for a number.
type countThreshold struct{ warning, critical countLimit }

// countLimit is reached at a number; nil never.
type countLimit struct{ n *int64 }

func (l countLimit) reached(n int64) bool { return l.n != nil && n >= *l.n }

func (l countLimit) String() string {
	if l.n == nil {
		return ""
	}
	return strconv.FormatInt(*l.n, 10)
}

func (t *countThreshold) set() bool    { return t.warning.n != nil || t.critical.n != nil }
func (t *countThreshold) Type() string { return "WARN:CRIT" }

func (t *countThreshold) String() string {
	if !t.set() {
		return ""
	}
	return t.warning.String() + ":" + t.critical.String()
}

func (t *countThreshold) level(n int64) int {
	switch {
	case t.critical.reached(n):
		return checkCritical
	case t.warning.reached(n):
		return checkWarning
	}
	return checkOK
}

// Set reads WARN:CRIT.
func (t *countThreshold) Set(s string) error {
	parse := func(s string) (countLimit, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return countLimit{}, errors.New("a threshold is two whole numbers above zero, WARN:CRIT, such as 1:20")
		}
		return countLimit{&n}, nil
	}
	warning, critical, err := twoLimits(s, parse)
	if err != nil {
		return err
	}
	if warning.n != nil && critical.n != nil && *warning.n > *critical.n {
		return errors.New("the warning lies above what is critical; write WARN:CRIT")
	}
	t.warning, t.critical = warning, critical
	return nil
}

// ageThreshold is WARN:CRIT for an age.
type ageThreshold struct{ warning, critical ageLimit }

// ageLimit is reached at an age; 0 never.
type ageLimit time.Duration

func (l ageLimit) reached(age *time.Duration) bool {
	return l > 0 && age != nil && *age >= time.Duration(l)
}

func (l ageLimit) seconds() string {
	if l == 0 {
		return ""
	}
	return strconv.FormatFloat(time.Duration(l).Seconds(), 'f', -1, 64)
}

func (t *ageThreshold) set() bool    { return t.warning > 0 || t.critical > 0 }
func (t *ageThreshold) Type() string { return "WARN:CRIT" }

func (t *ageThreshold) String() string {
	if !t.set() {
		return ""
	}
	return t.warning.seconds() + "s:" + t.critical.seconds() + "s"
}

func (t *ageThreshold) level(age *time.Duration) int {
	switch {
	case t.critical.reached(age):
		return checkCritical
	case t.warning.reached(age):
		return checkWarning
	}
	return checkOK
}

// Set reads WARN:CRIT.
func (t *ageThreshold) Set(s string) error {
	parse := func(s string) (ageLimit, error) {
		d, err := filter.ParseAge(s)
		if err != nil {
			return 0, errors.New("a threshold is two ages, WARN:CRIT, such as 15m:2h")
		}
		return ageLimit(d), nil
	}
	warning, critical, err := twoLimits(s, parse)
	if err != nil {
		return err
	}
	if warning > 0 && critical > 0 && warning > critical {
		return errors.New("the warning lies above what is critical; write WARN:CRIT")
	}
	t.warning, t.critical = warning, critical
	return nil
}

// twoLimits reads what stands on both sides of a colon; one of them may be missing.
func twoLimits[L any](s string, parse func(string) (L, error)) (warning, critical L, err error) {
	left, right, found := strings.Cut(s, ":")
	if !found || left == "" && right == "" {
		return warning, critical, errors.New("a threshold is WARN:CRIT; one of the two may be left out, the colon not")
	}
	if left != "" {
		if warning, err = parse(left); err != nil {
			return warning, critical, err
		}
	}
	if right != "" {
		critical, err = parse(right)
	}
	return warning, critical, err
}
