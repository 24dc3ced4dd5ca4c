package actions

import (
	"fmt"
	"time"
)

// ago writes an age that the database measured, rounded down, in one unit.
func ago(d time.Duration) string {
	if d < 0 {
		return "at a time that lies ahead (the clock went back)"
	}
	return span(d) + " ago"
}

// span writes how long something took, rounded down, in one unit.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "less than 1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// ago0 is ago with a blank before it, or nothing where no age is recorded.
func ago0(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return " " + ago(*d)
}
