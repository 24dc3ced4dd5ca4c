package text

import (
	"math"
	"strconv"
)

// Count writes an exact figure with separators: 1,204.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	b := []byte(sign)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digits[i])
	}
	return string(b)
}

// Capped writes a count that was given up at limit: 10,000+.
func Capped(limit int64) string {
	return Count(limit) + "+"
}

// Estimated writes an estimate to three significant figures: ≈9.93M. Units are
// thousands: k, M, G, T, P, E. A negative n is "?", as PostgreSQL estimates -1 rows for a
// table it has not looked at.
func (c Charset) Estimated(n int64) string {
	if n < 0 {
		return "?"
	}
	return c.Approx() + scaled(float64(n))
}

// Measured writes a figure in the way of its precision: exact, capped or estimated.
func (c Charset) Measured(n int64, precision string) string {
	switch precision {
	case "capped":
		return Capped(n)
	case "estimated":
		return c.Estimated(n)
	}
	return Count(n)
}

// scaled writes v, which is not negative, to three significant figures.
func scaled(v float64) string {
	if v < 1000 {
		return strconv.FormatFloat(math.Floor(v), 'f', 0, 64)
	}
	units := "kMGTPE"
	unit := -1
	// 999.5 would be rounded to a fourth figure.
	for v >= 999.5 && unit < len(units)-1 {
		v /= 1000
		unit++
	}
	decimals := 0
	switch {
	case v < 9.995:
		decimals = 2
	case v < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + units[unit:unit+1]
}

// Rate writes a rate per minute: 41/min, 0.4/min, <0.1/min, and 0 for none. A rate that
// is negative or no number is "?".
func Rate(perMinute float64) string {
	switch {
	case math.IsNaN(perMinute) || math.IsInf(perMinute, 0) || perMinute < 0:
		return "?"
	case perMinute == 0:
		return "0"
	case perMinute < 0.1:
		return "<0.1/min"
	case perMinute < 9.95:
		return strconv.FormatFloat(perMinute, 'f', 1, 64) + "/min"
	case perMinute < 999_999.5:
		return Count(int64(math.Round(perMinute))) + "/min"
	default:
		return scaled(perMinute) + "/min"
	}
}

// Percent writes a share, 1 being all: 2 %, 0.4 %, <0.1 %. Only nothing is 0 % and only
// all is 100 %; just under it is >99 %. A share that is negative or no number is "?".
func Percent(share float64) string {
	p := share * 100
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0) || p < 0:
		return "?"
	case p == 0:
		return "0 %"
	case p < 0.1:
		return "<0.1 %"
	case p < 9.95:
		// One decimal, but 2 % rather than 2.0 %.
		return strconv.FormatFloat(math.Round(p*10)/10, 'f', -1, 64) + " %"
	case p >= 99.5 && p < 100:
		return ">99 %"
	case p < 999_999.5:
		return Count(int64(math.Round(p))) + " %"
	default:
		return scaled(p) + " %"
	}
}

// Bytes writes a size in units of 1024: 512 B, 1.5 KiB, 12 MiB. A negative size is "?".
func Bytes(n int64) string {
	if n < 0 {
		return "?"
	}
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v := float64(n)
	unit := -1
	for v >= 1023.5 && unit < len("KMGTPE")-1 {
		v /= 1024
		unit++
	}
	decimals := 0
	if v < 9.95 {
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + " " + "KMGTPE"[unit:unit+1] + "iB"
}
