package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/store"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

func (a *app) newStatusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		GroupID: groupLook,
		Short:   "Counts and ages, by state",
		Long: `status prints how many jobs are in each state and since when, what is due, what is
stuck, and which kinds are paused. Each figure says whether it is exact: beyond 10,000
a state is "at least", and the number of done jobs is estimated.

With --exact every state is counted to the last job, all at one moment, in the indexes of
the open jobs and of the receipts. That costs about a second of the server's time for
10,000,000 jobs, beyond the share that a console keeps to, and takes at most --exact-limit,
since its snapshot keeps VACUUM from clearing away what goes out of use meanwhile. At the
limit it tells what it has, as "at least", and ends with 1.

As prometheus it prints text for the textfile collector of the node exporter.`,
		Example: `  jobtop status
  jobtop status --exact --exact-limit 5m
  jobtop status -o prometheus > /var/lib/node_exporter/jobtop.prom`,
		Args: noArguments,
	}
	output := outputFlag(cmd, "table", "json", "prometheus")
	exact := cmd.Flags().Bool("exact", false, "count every state to the last job")
	limit := cmd.Flags().Duration("exact-limit", store.CountLimit, "how long that may take")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case *limit <= 0:
			return usagef("--exact-limit is a time above zero, such as 30s or 5m")
		case !*exact && cmd.Flags().Changed("exact-limit"):
			return usagef("--exact-limit goes with --exact")
		}
		return a.status(cmd.Context(), output.value, *exact, *limit)
	}
	return cmd
}

func (a *app) status(ctx context.Context, output string, exact bool, limit time.Duration) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	var counts *store.ExactCounts
	var unfinished error
	if exact {
		if counts, unfinished = s.countExactly(ctx, limit); counts == nil {
			return unfinished
		}
	}
	poll, err := s.db.Poll(ctx)
	if err != nil {
		return err
	}
	if counts != nil {
		takeCounts(&poll, counts)
	}
	switch output {
	case "json":
		err = writeIndentedJSON(a.out, newStatusJSON(s, poll))
	case "prometheus":
		err = writePrometheus(a.out, s.server, poll)
	default:
		err = s.writeStatus(poll, counts)
	}
	return errors.Join(err, unfinished)
}

func (s *session) writeStatus(poll store.Poll, counts *store.ExactCounts) error {
	fmt.Fprintln(s.out, s.screen.line(strings.Join(s.whereabouts(), "   ")))
	fmt.Fprintln(s.out)

	t := table{columns: []column{{title: "state"}, {title: "jobs", right: true}, {title: "oldest", right: true}, {least: 10}}}
	row := func(name string, count store.Count, age, note string, role theme.Role) {
		if count.N == 0 {
			role = theme.Plain
		}
		t.add(plain(name), cell{s.count(count), role}, plain(age), plain(note))
	}
	roles := map[string]theme.Role{"review": theme.Warn, "dead": theme.Bad}
	for _, state := range poll.States {
		row(state.State, state.Count, ageOr(state.OldestAge, "-"), "", roles[state.State])
	}
	t.add(plain(""), plain(""), plain(""), plain(""))
	row("due", poll.Due, ageOr(poll.OldestDue, "-"), "", theme.Plain)
	note := ""
	if poll.HeartbeatsStopped() {
		note = "heartbeats stopped everywhere; suspect the database or the network"
	}
	row("stuck", poll.Stuck, ageOr(poll.OldestStuck, "-"), note, theme.Bad)
	if err := t.write(s.out, s.screen); err != nil {
		return err
	}
	for i, p := range poll.Paused {
		if i == 0 {
			fmt.Fprintln(s.out)
		}
		until := "until somebody resumes it"
		if p.EndsIn != nil {
			until = "for another " + text.Duration(*p.EndsIn)
		}
		fmt.Fprintln(s.out, s.screen.line(fmt.Sprintf("paused %s by %s %s ago, %s: %s", p.Kind, p.By, text.AgeColumn(p.SinceAge), until, p.Reason)))
	}
	if counts != nil {
		fmt.Fprintln(s.out)
		fmt.Fprintln(s.out, s.screen.in(theme.Dim, s.screen.line(countNote(*counts))))
	}
	return nil
}

// whereabouts says whom we talk to, as the console's header does.
func (s *session) whereabouts() []string {
	facts := []string{fmt.Sprintf("%s @ %s", s.server.Database, s.server.Host), "primary", "RW", "role " + s.server.Role}
	if s.server.Replica {
		facts[1] = "replica"
	}
	if s.mayAct() != nil {
		facts[2] = "RO"
	}
	if s.flags.profile != "" {
		facts = append([]string{s.flags.profile}, facts...)
	}
	return facts
}

// count writes a figure together with its precision.
func (s *session) count(c store.Count) string {
	return s.screen.charset.Measured(c.N, string(c.Precision))
}

type countJSON struct {
	Count     int64   `json:"count"`
	Precision string  `json:"precision"` // exact, capped (at least), estimated
	Age       seconds `json:"count_age_seconds"`
}

func newCountJSON(c store.Count) countJSON {
	return countJSON{c.N, string(c.Precision), seconds(c.Age)}
}

type stateJSON struct {
	State string `json:"state"`
	countJSON
	OldestAge *seconds `json:"oldest_age_seconds"`
}

type oldestJSON struct {
	countJSON
	OldestAge *seconds `json:"oldest_age_seconds"`
}

type pausedJSON struct {
	Kind   string   `json:"kind"`
	By     string   `json:"by"`
	Reason string   `json:"reason"`
	Since  seconds  `json:"since_age_seconds"`
	EndsIn *seconds `json:"ends_in_seconds"` // null: until somebody resumes it
}

type serverJSON struct {
	Database      string `json:"database"`
	Host          string `json:"host"`
	Role          string `json:"role"`
	ServerVersion int    `json:"server_version_num"`
	Replica       bool   `json:"replica"`
	MayAct        bool   `json:"may_act"`
	SchemaVersion int64  `json:"schema_version"`
}

type statusJSON struct {
	At                moment       `json:"at"`
	Server            serverJSON   `json:"server"`
	States            []stateJSON  `json:"states"`
	Due               oldestJSON   `json:"due"`
	Stuck             oldestJSON   `json:"stuck"`
	NewestHeartbeat   *seconds     `json:"newest_heartbeat_age_seconds"`
	HeartbeatsStopped bool         `json:"heartbeats_stopped"`
	Paused            []pausedJSON `json:"paused"`
	ServerCost        seconds      `json:"server_cost_seconds"`
	RoundTrip         seconds      `json:"round_trip_seconds"`
}

func newStatusJSON(s *session, poll store.Poll) statusJSON {
	status := statusJSON{
		At: moment(poll.At),
		Server: serverJSON{
			Database: s.server.Database, Host: s.server.Host, Role: s.server.Role, ServerVersion: s.server.Version,
			Replica: s.server.Replica, MayAct: s.mayAct() == nil, SchemaVersion: s.server.Schema.Have,
		},
		States:          []stateJSON{},
		Due:             oldestJSON{newCountJSON(poll.Due), secondsOf(poll.OldestDue)},
		Stuck:           oldestJSON{newCountJSON(poll.Stuck), secondsOf(poll.OldestStuck)},
		NewestHeartbeat: secondsOf(poll.NewestHeartbeat), HeartbeatsStopped: poll.HeartbeatsStopped(),
		Paused:     []pausedJSON{},
		ServerCost: seconds(poll.ServerCost), RoundTrip: seconds(poll.RoundTrip),
	}
	for _, state := range poll.States {
		status.States = append(status.States, stateJSON{state.State, newCountJSON(state.Count), secondsOf(state.OldestAge)})
	}
	for _, p := range poll.Paused {
		status.Paused = append(status.Paused, pausedJSON{p.Kind, p.By, p.Reason, seconds(p.SinceAge), secondsOf(p.EndsIn)})
	}
	return status
}
