package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jobtop/ui/nearest"
)

// Duration is written as Go writes durations: "2s", "1m30s".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration; write it as \"2s\" or \"1m30s\"", text)
	}
	*d = Duration(value)
	return nil
}

// Colour is one of the terminal's sixteen by name, a number from 0 to 255, or #rrggbb.
// The zero value is no colour.
type Colour struct{ code string }

// String is the colour's number, or #rrggbb; "" for none. It is how lipgloss takes it.
func (c Colour) String() string { return c.code }

// names are the terminal's colours, by number.
var names = []string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"bright-black", "bright-red", "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan", "bright-white",
}

// UnmarshalText reads a colour.
func (c *Colour) UnmarshalText(text []byte) error {
	word := strings.ToLower(string(text))
	if i := slices.Index(names, word); i >= 0 {
		c.code = strconv.Itoa(i)
		return nil
	}
	if n, err := strconv.ParseUint(word, 10, 8); err == nil {
		c.code = strconv.FormatUint(n, 10)
		return nil
	}
	if hex, ok := strings.CutPrefix(word, "#"); ok && len(hex) == 6 {
		if _, err := strconv.ParseUint(hex, 16, 32); err == nil {
			c.code = word
			return nil
		}
	}
	return fmt.Errorf("%q is no colour%s; use a name such as red or bright-blue, a number from 0 to 255, or #rrggbb",
		text, nearest.DidYouMean(word, names))
}
