package cli

import (
	"math"
	"time"

	"jobtop/store/bench"
)

// benchJSON is what bench found out. Figures are in milliseconds, to the microsecond:
// seconds would round away what is measured.
type benchJSON struct {
	Machine     benchMachineJSON  `json:"machine"`
	Server      benchServerJSON   `json:"server"`
	Jobs        int64             `json:"jobs"`
	Rounds      int               `json:"rounds"`
	TookSeconds seconds           `json:"took_seconds"`
	Tables      []benchTableJSON  `json:"tables"`
	Figures     []benchFigureJSON `json:"figures"`
	Screens     []benchScreenJSON `json:"screens"`
	Goals       []benchGoalJSON   `json:"goals"`
}

type benchMachineJSON struct {
	System string   `json:"system"`
	CPU    *string  `json:"cpu"`
	CPUs   int      `json:"cpus"`
	Memory *int64   `json:"memory_bytes"`
	Load   *float64 `json:"load"`
}

type benchServerJSON struct {
	Sandbox       bool   `json:"sandbox"`
	Version       string `json:"version"`
	SharedBuffers string `json:"shared_buffers"`
	Durable       bool   `json:"durable"`
	Locale        string `json:"locale"`
}

type benchTableJSON struct {
	Name  string  `json:"name"`
	Jobs  int64   `json:"jobs"`
	Open  int64   `json:"open"`
	Bytes int64   `json:"bytes"`
	Took  seconds `json:"made_in_seconds"`
}

type benchFigureJSON struct {
	What   string   `json:"what"`
	Beside string   `json:"beside"`
	Clock  string   `json:"clock"`
	N      int      `json:"n"`
	Median float64  `json:"median_ms"`
	Least  float64  `json:"least_ms"`
	P95    float64  `json:"p95_ms"`
	CPU    *float64 `json:"cpu_ms"`
	Note   *string  `json:"note"`
}

type benchScreenJSON struct {
	What  string  `json:"what"`
	Size  string  `json:"terminal"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

type benchGoalJSON struct {
	What    string  `json:"what"`
	Value   float64 `json:"value"`
	Bound   float64 `json:"bound"`
	Unit    *string `json:"unit"`
	AtLeast bool    `json:"at_least"`
	Met     *bool   `json:"met"`  // null: not judged
	Note    *string `json:"note"` // why not
}

func newBenchJSON(r bench.Report) benchJSON {
	orNull := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	j := benchJSON{
		Machine: benchMachineJSON{System: r.Machine.System, CPU: orNull(r.Machine.CPU), CPUs: r.Machine.CPUs},
		Server: benchServerJSON{Sandbox: r.Server.Sandbox, Version: r.Server.Version, SharedBuffers: r.Server.SharedBuffers,
			Durable: r.Server.Fsync && r.Server.SynchronousCommit, Locale: r.Server.Locale},
		Jobs: r.Jobs, Rounds: r.Rounds, TookSeconds: seconds(r.Took),
		Tables: []benchTableJSON{}, Figures: []benchFigureJSON{}, Screens: []benchScreenJSON{}, Goals: []benchGoalJSON{},
	}
	if r.Machine.Memory > 0 {
		j.Machine.Memory = &r.Machine.Memory
	}
	if r.Machine.Load >= 0 {
		j.Machine.Load = &r.Machine.Load
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	for _, t := range r.Tables {
		j.Tables = append(j.Tables, benchTableJSON{Name: t.Name, Jobs: t.Jobs, Open: t.Open, Bytes: t.Bytes, Took: seconds(t.Took)})
	}
	for _, f := range r.Figures {
		figure := benchFigureJSON{f.What, f.Beside, string(f.Clock), f.N, ms(f.Median), ms(f.Least), ms(f.P95), nil, orNull(f.Note)}
		if f.CPU > 0 {
			cpu := ms(f.CPU)
			figure.CPU = &cpu
		}
		j.Figures = append(j.Figures, figure)
	}
	for _, f := range r.Screens {
		j.Screens = append(j.Screens, benchScreenJSON{f.What, f.Size, math.Round(f.Value*1000) / 1000, f.Unit})
	}
	for _, g := range r.Goals {
		goal := benchGoalJSON{g.What, math.Round(g.Value*1000) / 1000, g.Bound, orNull(g.Unit), g.AtLeast, &g.Met, orNull(g.Unjudged)}
		if g.Unjudged != "" {
			goal.Met = nil
		}
		j.Goals = append(j.Goals, goal)
	}
	return j
}
