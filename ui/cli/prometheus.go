package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"jobtop/store"
)

// writePrometheus prints a poll in the text format of Prometheus, version 0.0.4. Every
// series names the database, so that several files can lie side by side.
func writePrometheus(w io.Writer, server store.Server, poll store.Poll) error {
	p := exposition{database: server.Database}

	p.family("jobtop_jobs", "Jobs by state.")
	for _, s := range poll.States {
		p.sample(float64(s.Count.N), "state", s.State)
	}
	p.family("jobtop_jobs_exact", "1 where the count by state is exact, 0 where it is capped or estimated.")
	for _, s := range poll.States {
		exact := 0.0
		if s.Count.Precision == store.Exact {
			exact = 1
		}
		p.sample(exact, "state", s.State)
	}
	p.family("jobtop_jobs_count_age_seconds", "How long before the timestamp the jobs of a state were counted.")
	for _, s := range poll.States {
		p.sample(s.Count.Age.Seconds(), "state", s.State)
	}
	p.family("jobtop_oldest_seconds", "How long the job longest in a state has been there; none for a state without jobs.")
	for _, s := range poll.States {
		p.age(s.OldestAge, "state", s.State)
	}
	p.family("jobtop_due_jobs", "Pending and failed jobs whose time has come.")
	p.sample(float64(poll.Due.N))
	p.family("jobtop_due_oldest_seconds", "How long the job longest due has waited.")
	p.age(poll.OldestDue)
	p.family("jobtop_stuck_jobs", "Running jobs past their own limit.")
	p.sample(float64(poll.Stuck.N))
	p.family("jobtop_stuck_oldest_seconds", "How long the worst stuck job has been past its limit.")
	p.age(poll.OldestStuck)
	p.family("jobtop_newest_heartbeat_seconds", "Age of the newest heartbeat of all running jobs.")
	p.age(poll.NewestHeartbeat)
	p.family("jobtop_paused", "1 for each kind that no worker may claim.")
	for _, k := range poll.Paused {
		p.sample(1, "kind", k.Kind)
	}
	p.family("jobtop_poll_cost_seconds", "What this look cost the server, elapsed.")
	p.sample(poll.ServerCost.Seconds())
	p.family("jobtop_poll_timestamp_seconds", "When this was read, by the database's clock.")
	p.sample(float64(poll.At.UnixMilli()) / 1000)

	_, err := io.WriteString(w, p.b.String())
	return err
}

type exposition struct {
	b        strings.Builder
	database string
	name     string
}

func (p *exposition) family(name, help string) {
	p.name = name
	fmt.Fprintf(&p.b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func (p *exposition) sample(value float64, labels ...string) {
	p.b.WriteString(p.name + `{database="` + label(p.database) + `"`)
	for i := 0; i < len(labels); i += 2 {
		p.b.WriteString("," + labels[i] + `="` + label(labels[i+1]) + `"`)
	}
	p.b.WriteString("} " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
}

func (p *exposition) age(d *time.Duration, labels ...string) {
	if d != nil {
		p.sample(d.Seconds(), labels...)
	}
}

// label escapes a label's value as the format demands. It may hold any UTF-8.
func label(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(s, "\uFFFD"))
}
