package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/config"
	"jobtop/ui/text"
)

func (a *app) newDoctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupOperate,
		Short:   "Find rows that contradict themselves, and say what mends them",
		Long: `doctor walks over all jobs, in small reads, and tells those whose rows contradict each
other: done without a receipt, a receipt without done, running without its attempt, an
attempt left open, attempts out of step, a state that nothing explains. It also compares
the edges and looks in the journal for acts without an outcome. It changes nothing.

The guard lets no contradiction come about; they are made past it, by a superuser or
by restoring a part of a backup. The exit status is 0 when all is sound, 1 otherwise.`,
		Example: `  jobtop doctor
  jobtop doctor --recent -o json     only the jobs that changed last`,
		Args: noArguments,
	}
	output := outputFlag(cmd, "table", "json")
	recent := cmd.Flags().Bool("recent", false, "look only at the jobs that changed last, up to 1,000 open and 1,000 done")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return a.doctor(cmd.Context(), output.value == "json", *recent)
	}
	return cmd
}

// findingJSON is one finding of doctor. job_id and what belongs to it are null in
// findings that are of no job.
type findingJSON struct {
	Problem string  `json:"problem"`
	JobID   *string `json:"job_id"`
	Kind    *string `json:"kind"`
	State   *string `json:"state"`
	Version *int64  `json:"version"`
	What    string  `json:"what"`
	Mend    string  `json:"mend"`
	Verb    *string `json:"verb"`
}

func (a *app) doctor(ctx context.Context, asJSON, recent bool) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	d := &findings{app: a, json: asJSON}
	if err := actions.CompareEdges(s.server.Edges); err != nil {
		d.tell(findingJSON{Problem: "edges_differ", What: err.Error(), Mend: "run jobtop schema status; an edge that was changed by hand has to be put back by hand"})
	}
	d.journal()
	looked, err := d.walk(ctx, s.db, recent)
	if err != nil {
		return err
	}
	a.log.Info("doctor", "looked", looked, "found", d.n)
	if d.err != nil {
		return d.err
	}
	if d.n > 0 {
		return &statusError{status: exitError}
	}
	if !asJSON {
		_, err = fmt.Fprintf(a.out, "%s looked at, none contradicts itself\n", jobs(looked))
	}
	return err
}

// findings prints what doctor finds as it finds it.
type findings struct {
	*app
	json bool
	n    int
	err  error
}

func (d *findings) tell(f findingJSON) {
	d.n++
	if d.err != nil {
		return
	}
	if d.json {
		d.err = writeJSON(d.out, f)
		return
	}
	subject := f.Problem
	if f.JobID != nil {
		subject = *f.JobID
	}
	if f.Kind != nil {
		subject += "  " + *f.Kind
	}
	for _, line := range []string{subject, "  " + f.What, "  mend: " + f.Mend} {
		if _, d.err = fmt.Fprintln(d.out, d.screen.charset.Sanitize(line)); d.err != nil {
			return
		}
	}
}

// journal tells the acts of this user whose outcome nobody has asked for yet.
func (d *findings) journal() {
	directory, err := config.StateDir()
	if err != nil {
		return // no state directory, so no journal either
	}
	pending, err := actions.NewJournal(directory).Pending()
	if err != nil {
		return // as above: the directory is made by the first act
	}
	for _, intent := range pending {
		verb := string(intent.Verb)
		d.tell(findingJSON{
			Problem: "act_without_outcome", JobID: &intent.JobID, Verb: &verb,
			What: fmt.Sprintf("%s by %s was sent, and its answer never heard (action %s)", verb, intent.Operator, intent.ActionID),
			Mend: "start the console, or run any act, against the same database: it settles it first",
		})
	}
}

func (d *findings) walk(ctx context.Context, db *store.DB, recent bool) (looked int, err error) {
	if recent {
		found, n, err := db.ContradictionsNow(ctx)
		d.add(found)
		return n, err
	}
	defer d.progress(-1)
	for after := ""; ; {
		found, next, n, err := db.ContradictionsAfter(ctx, after)
		if err != nil {
			return looked, err
		}
		d.add(found)
		looked += n
		if next == "" || d.err != nil {
			return looked, nil
		}
		d.progress(looked)
		after = next
	}
}

func (d *findings) add(found []store.Contradiction) {
	for _, c := range found {
		diagnosis := actions.Diagnose(c)
		f := findingJSON{Problem: c.Problem, JobID: &c.JobID, Kind: &c.Kind, State: &c.State, Version: &c.Version, What: diagnosis.What, Mend: diagnosis.Mend}
		if diagnosis.Verb != "" {
			verb := string(diagnosis.Verb)
			f.Verb = &verb
		}
		d.tell(f)
	}
}

// progress rewrites one line on a terminal; -1 takes it away.
func (d *findings) progress(looked int) {
	if !isTerminal(d.stderr) {
		return
	}
	fmt.Fprint(d.stderr, "\r\x1b[K")
	if looked >= 0 {
		fmt.Fprintf(d.stderr, "%s looked at, %d found", jobs(looked), d.n)
	}
}

func jobs(n int) string {
	if n == 1 {
		return "1 job"
	}
	return text.Count(int64(n)) + " jobs"
}
