package bench

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Report is what a run found out.
type Report struct {
	Machine Machine
	Server  ServerFacts
	Jobs    int64 // done jobs of the large table
	Rounds  int
	Tables  []Table
	Figures []Figure
	Screens []ScreenFigure
	Goals   []Goal
	Took    time.Duration
}

// Machine is where it ran.
type Machine struct {
	System string // operating system and architecture
	CPU    string // "" where it is not known
	CPUs   int
	Memory int64 // bytes, 0 where it is not known
	// Load is the system's load of the last minute as the run began, -1 where it is not
	// known. On a quiet machine it is near 0.
	Load float64
}

// ServerFacts are the PostgreSQL server that was measured.
type ServerFacts struct {
	Sandbox           bool
	Version           string
	SharedBuffers     string
	Fsync             bool
	SynchronousCommit bool
	Locale            string
}

// Table is one that was made.
type Table struct {
	Name  string
	Jobs  int64
	Open  int64
	Bytes int64
	Took  time.Duration // to make it
}

// Clock says how a Figure was timed.
type Clock string

// The clocks.
const (
	OnServer Clock = "server" // between a transaction's start and its last statement's end, by the server's clock
	AtClient Clock = "client" // from sending to the answer, the commit included
)

// Figure is how long one thing took, over all rounds. Of bulks it is the time for one job.
type Figure struct {
	What   string
	Beside string // the table
	Clock  Clock
	N      int // how often it was measured
	Median time.Duration
	Least  time.Duration
	P95    time.Duration
	// CPU is the median of the processor's time in the server, which what else runs on
	// the machine hardly changes; 0 where it cannot be measured.
	CPU  time.Duration
	Note string // what else is to be said, such as that a list said it was bounded
}

// ScreenFigure is what the console costs its terminal or the machine it runs on.
type ScreenFigure struct {
	What  string
	Size  string // of the terminal
	Value float64
	Unit  string // bytes, ms or MiB
}

// Goal is a figure, or a ratio of two of one run, held against what was promised.
type Goal struct {
	What string
	// Value and Bound are milliseconds where Unit is "ms", ratios where it is "x", a share
	// where it is "%", and 1 for yes where it is "".
	Value, Bound float64
	Unit         string
	AtLeast      bool // the bound is a lower one
	Met          bool
	// Unjudged is why it is neither met nor missed, "" where it is one of them.
	Unjudged string
}

// Met reports whether every goal was that could be judged.
func (r Report) Met() bool {
	return !slices.ContainsFunc(r.Goals, func(g Goal) bool { return !g.Met && g.Unjudged == "" })
}

// figure finds one by its name and its table's; the zero Figure where it was not measured.
func (r Report) figure(what, beside string) Figure {
	for _, f := range r.Figures {
		if f.What == what && f.Beside == beside {
			return f
		}
	}
	return Figure{}
}

// count writes a number with separators.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, digit := range s {
		if i > 0 && (len(s)-i)%3 == 0 && s[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
