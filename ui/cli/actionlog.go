package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"jobtop/actions"
	"jobtop/store"
	"jobtop/ui/filter"
	"jobtop/ui/theme"
)

// actionsFlags are the flags of actions.
type actionsFlags struct {
	query store.ActionQuery
	limit int
}

func (a *app) newActionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "actions",
		GroupID: groupLook,
		Short:   "What was done by hand: the log, or a handover note",
		Long: `actions prints what operators did, what they were refused, and what was changed past
jobtop, newest first. The operator's name is claimed; the database role is certain.

As markdown it is a handover note: every action, refused ones too, on which job, by whom
and why, and what is still open and since when.`,
		Example: `  jobtop actions --since 2h
  jobtop actions --since 8h -o markdown > handover.md
  jobtop actions --job charge-10442 -o json`,
		Args: noArguments,
	}
	var f actionsFlags
	var since string
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "of the last `time`, such as 2h or 3d")
	flags.StringVar(&f.query.JobID, "job", "", "on this job `id`")
	flags.StringVar(&f.query.Kind, "kind", "", "on jobs of this `kind`")
	flags.StringVar(&f.query.Operator, "by", "", "by this `operator`")
	verb := &choice{words: store.ActionVerbs()}
	choiceFlag(cmd, verb, "verb", "", "of this verb")
	outcome := &choice{words: []string{"applied", "refused", "void"}}
	choiceFlag(cmd, outcome, "outcome", "", "with this outcome")
	flags.IntVarP(&f.limit, "limit", "n", defaultListLimit, "at most this `number`; 0 lists all")
	output := outputFlag(cmd, "table", "json", "csv", "markdown")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if since != "" {
			d, err := filter.ParseAge(since)
			if err != nil {
				return usagef("--since: %w", err)
			}
			f.query.Since = d
		}
		if f.limit < 0 {
			return usagef("--limit is below zero")
		}
		f.query.Outcome, f.query.Verb = outcome.value, verb.value
		return a.actions(cmd.Context(), f, output.value)
	}
	return cmd
}

func (a *app) actions(ctx context.Context, f actionsFlags, format string) error {
	s, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	switch format {
	case "json":
		return s.eachAction(ctx, f, func(action store.Action) error { return writeJSON(s.out, newActionJSON(action)) })
	case "csv":
		w := csv.NewWriter(s.out)
		if err := w.Write(csvTitles(actionJSON{})); err != nil {
			return err
		}
		err := s.eachAction(ctx, f, func(action store.Action) error { return w.Write(csvCells(newActionJSON(action))) })
		w.Flush()
		if err == nil {
			err = w.Error()
		}
		return err
	case "markdown":
		return s.handover(ctx, f)
	}
	t := table{columns: []column{
		{title: "at (UTC)", drop: 2}, {title: "age", right: true}, {title: "verb"}, {title: "job or kind", least: 12, middle: true},
		{title: "outcome", least: 11}, {title: "by", least: 6}, {title: "role", least: 6, drop: 3}, {title: "reason", least: 10, soft: true},
	}}
	if err := s.eachAction(ctx, f, func(action store.Action) error {
		t.add(actionCells(action)...)
		return nil
	}); err != nil {
		return err
	}
	if len(t.rows) == 0 {
		_, err := fmt.Fprintln(s.out, "no actions")
		return err
	}
	return t.write(s.out, s.screen)
}

// eachAction reads the log page by page, newest first.
func (s *session) eachAction(ctx context.Context, f actionsFlags, do func(store.Action) error) error {
	query := f.query
	read := 0
	for {
		query.Limit = store.PageLimit
		if f.limit > 0 {
			query.Limit = min(query.Limit, f.limit-read)
		}
		page, err := s.db.Actions(ctx, query)
		if err != nil {
			return err
		}
		for _, action := range page.Actions {
			if err := do(action); err != nil {
				return err
			}
		}
		read += len(page.Actions)
		if page.Next == "" {
			return nil
		}
		if f.limit > 0 && read >= f.limit {
			s.complain(fmt.Sprintf("there are more than these %d; --limit 0 lists all", read))
			return nil
		}
		query.After = page.Next
	}
}

func actionCells(action store.Action) []cell {
	role := theme.Plain
	switch action.Outcome {
	case "refused", "void":
		role = theme.Warn
	}
	return []cell{
		{action.At.UTC().Format(time.DateTime), theme.Dim}, plain(ageColumn(action.Age)), plain(action.Verb), plain(subject(action)),
		{actions.ActionOutcome(action), role}, plain(action.Operator), plain(action.DBRole), plain(notes(orDash(action.Reason), judgement(action))),
	}
}

// subject is the job, or the kind of job, that an action was about.
func subject(action store.Action) string {
	if action.JobID != nil {
		return *action.JobID
	}
	return orDash(action.Kind)
}
