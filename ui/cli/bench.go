package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/store/bench"
	"jobtop/ui/text"
	"jobtop/ui/theme"
)

// benchFlags are those of jobtop bench.
type benchFlags struct {
	jobs   string
	shapes []string
	rounds int
	churn  time.Duration
}

func (a *app) newBenchCommand() *cobra.Command {
	f := benchFlags{}
	names := make([]string, 0, len(bench.Shapes()))
	for _, s := range bench.Shapes() {
		names = append(names, string(s))
	}
	cmd := &cobra.Command{
		Use:     "bench",
		GroupID: groupOperate,
		Short:   "Measure what jobtop costs, on tables made for it",
		Long: `bench makes tables of given sizes, measures on them what the console does, beside what
it is to be compared with, and drops them. All is measured round by round in one run.

The tables are made on a PostgreSQL server of its own in a temporary directory, or, with
--db, in new databases beside the one named, whose name must contain ` + bench.Marker + `.
DATABASE_URL and profiles are not heeded, and no database is written to but those it made.

The shapes: done, ever more done jobs beside the same 70,000 open ones; pending, a million
waiting; stuck, 100,000 past their limit; attempts, a job with 10,000 of them; churn, jobs
going through, and again under an old snapshot. With 10 million jobs it takes 11 GB of disk
and nine minutes on a quiet machine with two cores; with the default, a million, up to five
minutes on a busy one, two of them for the churn. Below 10 million GROUP BY is not judged
beside the poll: that promise is about large tables.

The exit status is 1 when a goal was missed.`,
		Example: `  jobtop bench
  jobtop bench --jobs 1e7 -o json
  jobtop bench --shape churn --churn 10m --db postgres://db-1/` + bench.Marker,
		Args: noArguments,
	}
	output := outputFlag(cmd, "table", "json")
	flags := cmd.Flags()
	flags.StringVar(&f.jobs, "jobs", "1e6", "done jobs in the largest table, such as 200000 or 1e7")
	flags.StringSliceVar(&f.shapes, "shape", names, "what to make and measure")
	flags.IntVar(&f.rounds, "rounds", 15, "how often everything is measured")
	flags.DurationVar(&f.churn, "churn", time.Minute, "how long jobs go through, twice")
	completeFlag(cmd, "shape", names)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.options(names)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("profile") {
			return usagef("jobtop bench takes no profile; name a database with --db, or none for a throwaway server")
		}
		if a.flags.db != "" {
			o.DSN = expandName(a.flags.db)
		}
		return a.bench(cmd.Context(), o, output.value == "json")
	}
	return cmd
}

// The bounds of --jobs: below them there is nothing to measure, above no disk to fill.
const (
	leastBenchJobs = 1_000
	mostBenchJobs  = 1_000_000_000
)

func (f *benchFlags) options(names []string) (bench.Options, error) {
	o := bench.Options{Rounds: f.rounds, Churn: f.churn}
	jobs, err := strconv.ParseFloat(strings.ReplaceAll(f.jobs, ",", ""), 64)
	switch {
	case err != nil || jobs != math.Trunc(jobs) || jobs < leastBenchJobs || jobs > mostBenchJobs:
		return o, usagef("--jobs is a whole number from 1000 to 1e9, not %q", f.jobs)
	case f.rounds < 1 || f.rounds > 50:
		return o, usagef("--rounds must be 1 to 50, not %d", f.rounds)
	case f.churn < time.Second:
		return o, usagef("--churn must be at least 1s, not %s", f.churn)
	}
	o.Jobs = int64(jobs)
	for _, shape := range f.shapes {
		known := choice{words: names}
		if err := known.Set(shape); err != nil {
			return o, usagef("--shape %q is %s", shape, err)
		}
		o.Shapes = append(o.Shapes, bench.Shape(shape))
	}
	return o, nil
}

func (a *app) bench(ctx context.Context, o bench.Options, asJSON bool) error {
	directory, err := os.MkdirTemp("", "jobtop-bench-")
	if err != nil {
		return fmt.Errorf("there is no temporary directory for a journal: %w", reason(err))
	}
	defer func() { _ = os.RemoveAll(directory) }()
	o.Hold = holdInBulk(actions.NewJournal(directory), a.client())
	progress := &benchProgress{app: a, terminal: isTerminal(a.stderr) && os.Getenv("TERM") != "dumb"}
	o.Progress = progress.tell
	o.Screens, o.Console = measureScreens, eagerConsole
	report, err := bench.Run(ctx, o)
	progress.clear()
	if err != nil {
		return err
	}
	if asJSON {
		err = writeIndentedJSON(a.out, newBenchJSON(report))
	} else {
		err = a.writeBench(report)
	}
	if err == nil && !report.Met() {
		return &statusError{status: exitError}
	}
	return err
}

// holdInBulk holds jobs as the console does in bulk, journal included.
func holdInBulk(journal *actions.Journal, client string) func(context.Context, *store.DB, []store.Job) error {
	return func(ctx context.Context, db *store.DB, jobs []store.Job) error {
		runner := &actions.Runner{DB: db, Journal: journal, Operator: "bench", Client: client}
		orders := make([]actions.Order, 0, len(jobs))
		for _, j := range jobs {
			orders = append(orders, actions.Order{Verb: actions.VerbHold, JobID: j.ID, SeenState: actions.State(j.State), SeenVersion: j.Version, Reason: "measuring"})
		}
		for _, r := range runner.RunAll(ctx, orders, func(int, actions.Result) {}) {
			if r.Outcome != actions.Applied {
				return errors.New(explain(r))
			}
		}
		return nil
	}
}

// benchProgress tells on standard error what is being done: on a terminal in one line
// that is rewritten, elsewhere a line for each thing.
type benchProgress struct {
	app      *app
	terminal bool
	last     string
}

func (p *benchProgress) tell(doing string) {
	if p.terminal {
		fmt.Fprint(p.app.stderr, "\r\x1b[K"+doing)
		return
	}
	// Of what is told with its progress, only the beginning.
	what := doing
	for _, end := range []string{", round ", ": "} {
		what, _, _ = strings.Cut(what, end)
	}
	if what != p.last {
		p.last = what
		fmt.Fprintln(p.app.stderr, "bench: "+doing)
	}
}

func (p *benchProgress) clear() {
	if p.terminal {
		fmt.Fprint(p.app.stderr, "\r\x1b[K")
	}
}

func (a *app) writeBench(r bench.Report) error {
	m := r.Machine
	machine := fmt.Sprintf("%s, %d CPUs", cmp.Or(m.CPU, m.System), m.CPUs)
	if m.Memory > 0 {
		machine += fmt.Sprintf(", %.0f GiB", float64(m.Memory)/(1<<30))
	}
	if m.Load >= 0 {
		machine += fmt.Sprintf(", load %.1f at the start", m.Load)
	}
	where := "a sandbox"
	if !r.Server.Sandbox {
		where = "an existing server"
	}
	server := fmt.Sprintf("PostgreSQL %s in %s, shared_buffers %s", r.Server.Version, where, r.Server.SharedBuffers)
	if !r.Server.Fsync || !r.Server.SynchronousCommit {
		server += ", commits not durable"
	}
	fmt.Fprintln(a.out, a.screen.line(machine))
	fmt.Fprintln(a.out, a.screen.line(server))
	fmt.Fprintln(a.out, a.screen.line(fmt.Sprintf("%d rounds, %s in all", r.Rounds, text.Duration(r.Took.Round(time.Second)))))

	tables := table{columns: []column{{title: "table"}, {title: "jobs", right: true}, {title: "open", right: true}, {title: "size", right: true}, {title: "made in", right: true}}}
	for _, t := range r.Tables {
		tables.add(plain(t.Name), plain(text.Count(t.Jobs)), plain(text.Count(t.Open)), plain(fmt.Sprintf("%d MB", t.Bytes>>20)), plain(fmt.Sprintf("%.0f s", t.Took.Seconds())))
	}
	figures := table{columns: []column{{title: "what", least: 16}, {title: "beside", least: 12}, {title: "clock"}, {title: "median", right: true}, {title: "least", right: true},
		{title: "p95", right: true}, {title: "processor", right: true}, {title: "n", right: true, drop: 2}, {title: "", drop: 1, least: 10}}}
	for _, f := range r.Figures {
		figures.add(plain(f.What), plain(f.Beside), plain(string(f.Clock)), plain(milliseconds(f.Median)), plain(milliseconds(f.Least)), plain(milliseconds(f.P95)), plain(milliseconds(f.CPU)),
			plain(text.Count(int64(f.N))), cell{f.Note, theme.Dim})
	}
	screens := table{columns: []column{{title: "the console", least: 16}, {title: "terminal"}, {title: "median", right: true}}}
	for _, f := range r.Screens {
		screens.add(plain(f.What), plain(f.Size), plain(fmt.Sprintf("%.0f %s", f.Value, f.Unit)))
	}
	goals := table{columns: []column{{title: "goal", least: 24}, {title: "measured", right: true}, {title: "promised"}, {title: ""}}}
	for _, g := range r.Goals {
		bound := "at most "
		if g.AtLeast {
			bound = "at least "
		}
		if g.Unit == "" {
			bound = ""
		}
		verdict := cell{"met", theme.Good}
		switch {
		case g.Unjudged != "":
			verdict = cell{g.Unjudged, theme.Dim}
		case !g.Met:
			verdict = cell{"missed", theme.Bad}
		}
		goals.add(plain(g.What), plain(measured(g.Value, g.Unit)), plain(bound+measured(g.Bound, g.Unit)), verdict)
	}
	for _, t := range []table{tables, figures, screens, goals} {
		if len(t.rows) == 0 {
			continue
		}
		fmt.Fprintln(a.out)
		if err := t.write(a.out, a.screen); err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}

// measured writes a goal's value.
func measured(value float64, unit string) string {
	switch unit {
	case "x":
		return fmt.Sprintf("%.2f x", value)
	case "ms", "%":
		return fmt.Sprintf("%.2f %s", value, unit)
	}
	if value == 1 {
		return "yes"
	}
	return "no"
}
