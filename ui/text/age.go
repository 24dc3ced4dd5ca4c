package text

import (
	"fmt"
	"strconv"
	"time"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// ClockWentBack stands for an age below zero: the database's clock was set back, or
// two clocks were compared.
const ClockWentBack = "clock went back"

// Age writes how long ago something was, rounded down, in one unit and at most four
// columns: <1s, 38s, 14m, 2h, 3d, 1y. Days go on to 364d, then come years of 365 days.
// Below zero it is [ClockWentBack].
func Age(d time.Duration) string {
	if d < 0 {
		return ClockWentBack
	}
	return age(d)
}

// AgeColumn is [Age] for narrow columns: below zero it is "<0s".
func AgeColumn(d time.Duration) string {
	if d < 0 {
		return "<0s"
	}
	return age(d)
}

func age(d time.Duration) string {
	unit, name := year, "y"
	switch {
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		unit, name = time.Second, "s"
	case d < time.Hour:
		unit, name = time.Minute, "m"
	case d < day:
		unit, name = time.Hour, "h"
	case d < year:
		unit, name = day, "d"
	}
	return strconv.FormatInt(int64(d/unit), 10) + name
}

// Duration writes how long something took, rounded down, in at most six columns up to
// 99 days: 0s, <1ms, 4ms, 4.1s, 38s, 2m05s, 1h12m, 3d04h. A negative duration has a minus.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		// The smallest int64 has no positive counterpart.
		return "-" + Duration(-max(d, -1<<63+1))
	case d == 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd%02dh", d/day, d%day/time.Hour)
	}
}
